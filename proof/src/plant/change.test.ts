import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'

const change = new URL('../../dist/plant/change.js', import.meta.url).href

test.each([
  ['/x/cli/dist/main.js', { status: 0, stdout: '2 + one', stderr: '' }],
  [
    '/x/cli/dist/other.js',
    { status: 1, stdout: 'one + one', stderr: 'the command does not load cli/dist/main.js\n' },
  ],
])(
  '[B1] a bundle of the command has every patch; one whose file is not in it is an error: %s',
  (path, said) => {
    const patches = [{ file: 'cli/dist/main.js', find: 'one +', put: '2 +' }]
    const program = `import { change } from '${change}'; process.stdout.write(change('${path}', 'one + one'))`
    const env = { ...process.env, ATRIUM_PLANT: JSON.stringify(patches) }
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      ['--input-type=module', '--eval', program],
      { env, encoding: 'utf8' },
    )
    expect({ status, stdout, stderr }).toEqual(said)
  },
)
