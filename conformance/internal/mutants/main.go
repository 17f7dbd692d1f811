// Command mutants breaks ibvtest and the binding on purpose, one way at a time, and has the tests notice: the
// conformance scenarios, the random sequences against the model, and the tests of ibvtest. A fault that nothing notices
// is a test that is missing.
//
//	go run ./conformance/internal/mutants                  # all of them
//	go run ./conformance/internal/mutants -sample 8        # eight, drawn by a seed that is printed
//	go run ./conformance/internal/mutants -only NAME       # one
//	go run ./conformance/internal/mutants -page docs/mutants.md
package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
)

func main() {
	sample := flag.Int("sample", 0, "how many of them, drawn by the seed; all if 0")
	seed := flag.Uint64("seed", 0, "the seed; a new one if 0")
	only := flag.String("only", "", "the name of the only one")
	page := flag.String("page", "", "the file to write the outcome to, as a page of the documentation")
	at := flag.Int("parallel", 2, "how many at a time")
	flag.Parse()
	if *seed == 0 {
		*seed = rand.Uint64()
	}
	if *sample > 0 {
		fmt.Printf("%d of %d, by -seed %d\n", *sample, len(mutants), *seed)
	}
	if err := run(chosen(*sample, *seed, *only), *page, *at); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

// chosen is the mutants to try, in the order of the list.
func chosen(sample int, seed uint64, only string) (all []mutant) {
	for _, m := range mutants {
		if only == "" || m.name == only {
			all = append(all, m)
		}
	}
	if sample <= 0 || sample >= len(all) {
		return all
	}
	rand.New(rand.NewPCG(seed, 0)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:sample]
}

// run tries the mutants and tells what noticed each.
func run(all []mutant, page string, at int) error {
	if len(all) == 0 {
		return fmt.Errorf("there is no such mutant")
	}
	folder, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	if page != "" { // whose outcomes have to be the mutants'
		if err := sound(folder); err != nil {
			return err
		}
	}
	outcomes := make([]outcome, len(all))
	next := make(chan int)
	var group sync.WaitGroup
	for range at {
		group.Go(func() {
			for i := range next {
				outcomes[i] = try(all[i], folder)
				fmt.Println(outcomes[i])
			}
		})
	}
	for i := range all {
		next <- i
	}
	close(next)
	group.Wait()
	survived := 0
	for _, o := range outcomes {
		if o.err != nil || o.noticed == "" {
			survived++
		}
	}
	if survived > 0 {
		return fmt.Errorf("%d of %d were not noticed", survived, len(all))
	}
	fmt.Printf("all %d were noticed\n", len(all))
	if page == "" {
		return nil
	}
	return os.WriteFile(page, []byte(text(outcomes)), 0o644)
}

// sound is an error if a test fails without any of them.
func sound(folder string) error {
	overlay, err := noOverlay(folder)
	if err != nil {
		return err
	}
	for _, pkg := range usual {
		failed, err := fails(pkg, overlay)
		if err != nil {
			return err
		}
		if failed != "" {
			return fmt.Errorf("a test fails without any of them: %s", failed)
		}
	}
	return nil
}
