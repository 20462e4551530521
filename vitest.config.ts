import { defineConfig } from 'vitest/config'

/** Tests that leave no trace in a module or in the process: one worker runs many files, and loads each module once. */
const shared = [
  'packages/{host,client}/src/**/*.test.ts',
  'packages/adapters/src/{acp,git,guide,model,store,terminals}/**/*.test.ts',
  'conformance/src/**/*.test.ts',
]

export default defineConfig({
  // Tests run on the sources of every package, so that nothing stale can pass.
  resolve: { conditions: ['atrium-source'] },
  ssr: { resolve: { conditions: ['atrium-source', 'node', 'import', 'default'] } },
  test: {
    globalSetup: ['test/environment.ts'],
    // Tests wait on states, never on time: this only ends one that waits for what never comes, also on a machine that is busy.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    // One for each core: most of them wait for processes, and by default a core would be left alone.
    maxWorkers: '100%',
    projects: [
      { extends: true, test: { name: 'shared', include: shared, isolate: false } },
      {
        extends: true,
        test: {
          name: 'alone',
          include: [
            'packages/*/src/**/*.test.ts',
            'test/**/*.test.ts',
            '{bench,conformance,proof}/src/**/*.test.ts',
          ],
          exclude: ['**/node_modules/**', ...shared],
        },
      },
    ],
  },
})
