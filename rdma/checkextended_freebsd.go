package rdma

func (*checkedCQ) bindExtended(*CQ, wcFields) {}
