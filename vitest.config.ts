import { defineConfig } from 'vitest/config'

export default defineConfig({
  // Tests run on the sources of every package, so that nothing stale can pass.
  resolve: { conditions: ['atrium-source'] },
  ssr: { resolve: { conditions: ['atrium-source', 'node', 'import', 'default'] } },
  test: {
    // Tests wait on states, never on time: this only ends one that waits for what never comes.
    testTimeout: 30_000,
    hookTimeout: 30_000,
    include: [
      'packages/*/src/**/*.test.ts',
      'test/**/*.test.ts',
      '{bench,conformance,proof}/src/**/*.test.ts',
    ],
  },
})
