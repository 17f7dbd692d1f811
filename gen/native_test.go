//go:build !cross

package main

const emulated = false
