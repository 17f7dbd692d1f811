package main

// mutants is the faults.
var mutants = []mutant{
	{name: "a receive's immediate data is swapped once too often", file: "ibvtest/responder.go", old: "wc.SetImmData(w.wr.ImmData())", new: "wc.SetImmData(ibv.ToBE32(uint32(w.wr.ImmData())))"},
}
