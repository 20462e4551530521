import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import Order from './test/order.ts'
import { sourceAliases } from './test/sources.ts'

/**
 * Tests that replace a module of Node, measure the memory of the process, or list all shapes that are loaded. Each file has a worker
 * of its own.
 */
const alone = [
  'packages/adapters/src/files/files-{faults,hostile,limits,swap}.test.ts',
  'packages/protocol/src/{channel,document,schema,rpc/serve}.test.ts',
  'packages/protocol/src/versions/{known,{lens,session,step}-laws,steps/v0-9}.test.ts',
]

/** The other tests: one worker runs many files, and loads each module once. */
const shared = [
  'packages/*/src/**/*.test.ts',
  '{bench,conformance,proof}/src/**/*.test.ts',
  'test/**/*.test.ts',
]

/** What both kinds have. */
const common = {
  // Tests run on the sources of every package, so that nothing stale can pass.
  resolve: { alias: [...sourceAliases(fileURLToPath(new URL('.', import.meta.url)))] },
  test: {
    globalSetup: ['test/environment.ts', 'test/threads.ts'],
    setupFiles: ['test/cpu-time.ts', 'test/worker-folder.ts', 'test/random-seed.ts'],
    // Tests wait on states, never on time: this only ends one that waits for what never comes, also on a machine that is busy.
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
}

export default defineConfig({
  test: {
    sequence: { sequencer: Order },
    reporters: ['default', './test/report.ts'],
    // More than there are cores, because many tests wait for processes. It stands here alone, so that `--maxWorkers` holds.
    maxWorkers: availableParallelism() + 2,
    projects: [
      { ...common, test: { ...common.test, name: 'alone', include: alone } },
      {
        ...common,
        test: {
          ...common.test,
          name: 'shared',
          include: shared,
          exclude: ['**/node_modules/**', ...alone],
          isolate: false,
        },
      },
    ],
  },
})
