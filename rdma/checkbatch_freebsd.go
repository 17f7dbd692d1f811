package rdma

func (*checkedQP) bindBatch(*QP) {}
