import { defineConfig } from 'vitest/config'

export default defineConfig({
  // Tests run on the sources of every package, so that nothing stale can pass.
  resolve: { conditions: ['atrium-source'] },
  ssr: { resolve: { conditions: ['atrium-source', 'node', 'import', 'default'] } },
  test: {
    // Tests wait on states, never on time: this only ends one that waits for what never comes.
    testTimeout: 30_000,
    hookTimeout: 30_000,
    // One for each core: most of them wait for processes, and by default a core would be left alone.
    maxWorkers: '100%',
    include: [
      'packages/*/src/**/*.test.ts',
      'test/**/*.test.ts',
      '{bench,conformance,proof}/src/**/*.test.ts',
    ],
  },
})
