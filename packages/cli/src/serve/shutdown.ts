/** Resolves at the first signal that asks us to stop. The second one does not ask. */
export function askedToStop(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let asked = false
    for (const [signal, exit] of exits)
      process.on(signal, () => {
        if (asked) process.exit(exit)
        asked = true
        resolve(signal)
      })
  })
}

const exits: readonly (readonly [NodeJS.Signals, number])[] = [
  ['SIGINT', 130],
  ['SIGTERM', 143],
]
