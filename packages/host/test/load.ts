/**
 * The CPU time that this process has used, in milliseconds. Unlike the clock, it stands still while other programs use the
 * processor.
 */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

/** Returns how many times longer a task takes now than on an idle machine; at least 1. */
export function slowness(): number {
  const [begun, used] = [performance.now(), cpuMs()]
  while (cpuMs() - used < 50);
  return Math.max(1, (performance.now() - begun) / (cpuMs() - used))
}
