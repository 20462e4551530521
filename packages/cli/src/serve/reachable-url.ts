/**
 * The address under which commands and browsers reach a host. A host that listens on all addresses has no address of
 * its own. Then the first name that the user allows is used, for which the certificate was made.
 */
export function reachableUrl(url: string, allowHosts: readonly string[] = []): string {
  const [name] = allowHosts
  const [, scheme, port] = /^(wss?):\/\/(?:0\.0\.0\.0|\[::\]):(\d+)\/$/.exec(url) ?? []
  if (scheme === undefined || name === undefined) return url
  return `${scheme}://${/:\d+$/.test(name) ? name : `${name}:${port}`}/`
}

/** Whether a URL has a loopback address, which only programs on the same machine can connect to. */
export function isLoopback({ hostname }: URL): boolean {
  return /^(?:localhost|127\..*|\[::1\])$/.test(hostname)
}

/** Whether the address stands for all addresses of a machine. No client can connect to such an address. */
export function isWildcard({ hostname }: URL): boolean {
  return /^(?:0\.0\.0\.0|\[::\])$/.test(hostname)
}
