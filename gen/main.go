package main

import (
	"os"

	"github.com/goverbs/goverbs/gen/internal/cheader"
	"github.com/goverbs/goverbs/headers"
)

func main() {
	t, err := headers.ParseTarget(os.Args[1])
	if err != nil {
		panic(err)
	}
	f, err := cheader.Parse(cheader.Source{Header: os.Args[2], IncludeDirs: os.Args[3:]}, t)
	if err != nil {
		println(err.Error())
		os.Exit(1)
	}
	f.Write(os.Stdout)
}
