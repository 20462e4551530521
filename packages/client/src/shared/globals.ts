import type { World } from './world.ts'

// The one file that takes time and chance from where it runs: browsers, Node and workers all have these.
declare function setTimeout(task: () => void, ms: number): unknown
declare function clearTimeout(timer: never): void
declare const crypto: { randomUUID(): string }

export const world: World = {
  after(ms, task) {
    const timer = setTimeout(task, ms)
    return () => clearTimeout(timer as never)
  },
  random: () => Math.random(),
}

export const newId = (): string => crypto.randomUUID()
