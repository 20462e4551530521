import fc from 'fast-check'

/**
 * The seed of every property test. It is the same in each run, so that a change decides whether the tests pass, not luck.
 * `ATRIUM_SEED=N` chooses another one and `ATRIUM_SEED=random` a new one; a failure prints the seed.
 */
const asked = process.env['ATRIUM_SEED'] ?? '1'
if (asked !== 'random') fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(asked) })
