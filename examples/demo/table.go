package main

import "fmt"

// printTables shows what happened.
func printTables(t traffic, costs []cost) {
	seconds := t.elapsed.Seconds()
	fmt.Printf(`
  Received, every byte checked
  ─────────────────────────────────────────────
  messages      %12d   in %.1f s
  bytes         %12d   %.1f MB/s
  posts         %12d   of chains of up to %d

`, t.messages, seconds, t.bytes, float64(t.bytes)/1e6/seconds, t.posts, chainLength)
	if costs == nil {
		return
	}
	fmt.Print(`  Posting a chain of receives, ns per post
  ─────────────────────────────────────────────
  receives         C     goverbs     goverbs/C
`)
	for _, c := range costs {
		fmt.Printf("  %8d  %8.1f    %8.1f     %8.2fx\n", c.chain, c.c, c.goverb, c.goverb/c.c)
	}
	fmt.Printf("\n  Medians of %d rounds, C and Go in turn, same queue pair, same work requests.\n", rounds)
	if emulated() {
		fmt.Print("  This machine is emulated, where switching stacks for a call weighs far more than on a real\n" +
			"  processor: GUEST=uml make demo measures at this machine's own speed.\n")
	}
	fmt.Println()
}
