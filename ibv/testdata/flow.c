/* A flow as a C program writes it: what NewFlowAttr has to lay out. */
#include <infiniband/verbs.h>
#include <string.h>

struct rule {
	struct ibv_flow_attr attr;
	struct ibv_flow_spec_eth eth;
	struct ibv_flow_spec_ipv4_ext ipv4;
	struct ibv_flow_spec_tcp_udp udp;
	struct ibv_flow_spec_tunnel tunnel;
	struct ibv_flow_spec_ipv6 ipv6;
	struct ibv_flow_spec_action_handle handle;
	struct ibv_flow_spec_counter_action count;
	struct ibv_flow_spec_action_tag tag;
	struct ibv_flow_spec_action_drop drop;
} __attribute__((packed));

size_t flow_rule(void *out, struct ibv_flow_action *action, struct ibv_counters *counters)
{
	struct rule r;

	memset(&r, 0, sizeof(r));
	r.attr.type = IBV_FLOW_ATTR_NORMAL;
	r.attr.size = sizeof(r);
	r.attr.priority = 0x1112;
	r.attr.num_of_specs = 9;
	r.attr.port = 3;
	r.attr.flags = IBV_FLOW_ATTR_FLAGS_DONT_TRAP;
	r.eth.type = IBV_FLOW_SPEC_ETH;
	r.eth.size = sizeof(r.eth);
	memcpy(r.eth.val.dst_mac, "\1\2\3\4\5\6", 6);
	memset(r.eth.mask.dst_mac, 0xff, 6);
	r.eth.val.ether_type = 0x0800;
	r.eth.mask.vlan_tag = 0x0fff;
	r.ipv4.type = IBV_FLOW_SPEC_IPV4_EXT;
	r.ipv4.size = sizeof(r.ipv4);
	r.ipv4.val.dst_ip = 0x21222324;
	r.ipv4.mask.dst_ip = 0xffffffff;
	r.ipv4.mask.flags = 0x31;
	r.udp.type = IBV_FLOW_SPEC_UDP;
	r.udp.size = sizeof(r.udp);
	r.udp.val.dst_port = 0x4142;
	r.udp.mask.src_port = 0x5152;
	r.tunnel.type = IBV_FLOW_SPEC_VXLAN_TUNNEL;
	r.tunnel.size = sizeof(r.tunnel);
	r.tunnel.val.tunnel_id = 0x61626364;
	r.ipv6.type = IBV_FLOW_SPEC_IPV6 | IBV_FLOW_SPEC_INNER;
	r.ipv6.size = sizeof(r.ipv6);
	memset(r.ipv6.val.src_ip, 0x71, 16);
	r.ipv6.mask.hop_limit = 0x72;
	r.handle.type = IBV_FLOW_SPEC_ACTION_HANDLE;
	r.handle.size = sizeof(r.handle);
	r.handle.action = action;
	r.count.type = IBV_FLOW_SPEC_ACTION_COUNT;
	r.count.size = sizeof(r.count);
	r.count.counters = counters;
	r.tag.type = IBV_FLOW_SPEC_ACTION_TAG;
	r.tag.size = sizeof(r.tag);
	r.tag.tag_id = 0x81828384;
	r.drop.type = IBV_FLOW_SPEC_ACTION_DROP;
	r.drop.size = sizeof(r.drop);
	memcpy(out, &r, sizeof(r));
	return sizeof(r);
}
