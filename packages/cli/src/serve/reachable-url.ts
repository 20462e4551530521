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
