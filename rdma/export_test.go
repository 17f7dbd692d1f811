package rdma

// Ticket is the WRID of a ring's work request by its number.
func (r *SendRing) Ticket(number uint64) uint64 { return ticket(r.tag, number) }

// Number is the number of a ring's work request by its WRID.
func (r *SendRing) Number(wrID uint64) uint64 { return ticketNumber(wrID) }

// CountFrom has a new ring count from a number on.
func (r *SendRing) CountFrom(number uint64) {
	r.done, r.posted, r.added, r.turn, r.signalled = number, number, number, number, number
}
