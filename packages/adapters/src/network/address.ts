import { lookup as systemLookup } from 'node:dns'
import type { LookupAddress, LookupOptions } from 'node:dns'
import { BlockList, isIP } from 'node:net'

/**
 * Addresses that are not public (S-47): addresses of this machine, private, link-local, documentation and multicast addresses,
 * and IPv6 forms of IPv4 addresses. Without this list, a server could make the host send requests to its neighbours in the
 * network.
 */
const ranges = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '::/96',
  '::ffff:0:0/96',
  '64:ff9b::/32',
  '100::/64',
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  'fc00::/7',
  'fe80::/10',
  'fec0::/10',
  'ff00::/8',
]

/**
 * The ranges as one list for each address family. The lists are made when the first address is checked, because most
 * hosts check none.
 */
let blocked: { readonly ipv4: BlockList; readonly ipv6: BlockList } | undefined

function blockLists() {
  const lists = { ipv4: new BlockList(), ipv6: new BlockList() }
  for (const range of ranges) {
    const [network = '', prefix] = range.split('/')
    const family = familyOf(network)
    lists[family].addSubnet(network, Number(prefix), family)
  }
  return lists
}

export function isPublicAddress(address: string): boolean {
  blocked ??= blockLists()
  const family = familyOf(address)
  return isIP(address) !== 0 && !blocked[family].check(address, family)
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 4 ? 'ipv4' : 'ipv6'
}

/** Whether a host name of a URL is one of this machine. */
export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(hostname)
}

type Callback = (error: Error | null, addresses: LookupAddress[]) => void

/**
 * Returns a DNS lookup for requests. It fails unless all addresses of the host name are public. The request connects
 * to one of these addresses.
 */
export function publicLookup(
  resolve: (hostname: string, options: { all: true }, callback: Callback) => void = systemLookup,
) {
  return (
    hostname: string,
    options: LookupOptions,
    callback: (error: Error | null, address: string | LookupAddress[], family?: number) => void,
  ): void =>
    resolve(hostname, { all: true }, (error, addresses) => {
      const [first] = addresses ?? []
      if (error || !first) return callback(error ?? new Error('no address'), [])
      if (!addresses.every(({ address }) => isPublicAddress(address)))
        return callback(new Error(`${hostname} has an address that is not public`), [])
      if (options.all) return callback(null, addresses)
      callback(null, first.address, first.family)
    })
}
