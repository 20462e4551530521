/** CPU time of this process in milliseconds. Unlike the clock it stands still while other programs have the processor. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

/** How many times longer work takes now than on an idle machine; at least 1. */
export function slowness(): number {
  const [begun, used] = [performance.now(), cpuMs()]
  while (cpuMs() - used < 50);
  return Math.max(1, (performance.now() - begun) / (cpuMs() - used))
}
