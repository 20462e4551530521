import type { World } from './world.ts'

// The only file that uses the globals for timers and random numbers. Browsers, Node and workers all have them.
declare function setTimeout(task: () => void, ms: number): unknown
declare function clearTimeout(timer: unknown): void
declare const crypto: { randomUUID(): string }

export const world: World = {
  after(ms, task) {
    const timer = setTimeout(task, ms)
    return () => clearTimeout(timer)
  },
  random: () => Math.random(),
}

export const newId = (): string => crypto.randomUUID()
