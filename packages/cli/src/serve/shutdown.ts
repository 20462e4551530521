/** Resolves at the first SIGINT or SIGTERM. The second signal exits at once. */
export function stopSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let stopping = false
    for (const [signal, exit] of exits)
      process.on(signal, () => {
        if (stopping) process.exit(exit)
        stopping = true
        resolve(signal)
      })
  })
}

const exits: readonly (readonly [NodeJS.Signals, number])[] = [
  ['SIGINT', 130],
  ['SIGTERM', 143],
]
