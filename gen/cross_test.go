//go:build cross

package main

const emulated = true
