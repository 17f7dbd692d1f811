package system

import "syscall"

// here are the names that other systems do not all have.
var here = []named{
	{syscall.EAUTH, "EAUTH"},
	{syscall.EBADRPC, "EBADRPC"},
	{syscall.ECAPMODE, "ECAPMODE"},
	{syscall.EDOOFUS, "EDOOFUS"},
	{syscall.EFTYPE, "EFTYPE"},
	{syscall.EMULTIHOP, "EMULTIHOP"},
	{syscall.ENEEDAUTH, "ENEEDAUTH"},
	{syscall.ENOATTR, "ENOATTR"},
	{syscall.ENOLINK, "ENOLINK"},
	{syscall.ENOTCAPABLE, "ENOTCAPABLE"},
	{syscall.ENOTRECOVERABLE, "ENOTRECOVERABLE"},
	{syscall.EOWNERDEAD, "EOWNERDEAD"},
	{syscall.EPROCLIM, "EPROCLIM"},
	{syscall.EPROCUNAVAIL, "EPROCUNAVAIL"},
	{syscall.EPROGMISMATCH, "EPROGMISMATCH"},
	{syscall.EPROGUNAVAIL, "EPROGUNAVAIL"},
	{syscall.ERPCMISMATCH, "ERPCMISMATCH"},
	{97, "EINTEGRITY"}, // which package syscall lacks
}
