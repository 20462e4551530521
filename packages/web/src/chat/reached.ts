/** Whether a browser that has a page of `pageHost` reaches an address that the host has named: by loopback only on its own machine. */
export function isReached(address: string, pageHost: string): boolean {
  return !isLoopback(new URL(address).hostname) || isLoopback(pageHost)
}

const isLoopback = (name: string) => /^(?:(?:.+\.)?localhost|127\..+|\[::1\])$/.test(name)
