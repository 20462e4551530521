import { execFile, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, onTestFinished, test } from 'vitest'
import { configure } from '../packages/cli/src/serve/config.ts'
import { HostProcess } from '../packages/cli/test/host-process.ts'

/** Runs an example. Some wait half a minute for what they show, so they run at the same time. */
const example = promisify(execFile)

const sharedTurn = [
  'Ann speaks 1.0.0, Ben 0.9.0; both follow ahp-chat://default…',
  'Both see the answer grow while it is written.',
  'The host is killed.',
  'It is back. The interrupted turn says: The host was stopped while the agent worked on this. The turn can be resumed until another one begins.',
  'Ben lets it go on, and it ends: 41 characters',
  'Ann and Ben both have the state that the host has.',
]

test.concurrent('[A4] examples/fold.mjs runs as it is printed', async ({ expect }) => {
  const path = fileURLToPath(new URL('../examples/fold.mjs', import.meta.url))
  const { stdout, stderr } = await example(process.execPath, [path])
  expect({ stdout, stderr }).toEqual({ stdout: 'Hello, world. true 2026-01-01T00:00:02.500Z\n', stderr: '' })
})

test.concurrent('[A4] [L13] [L6] examples/two-clients.mjs: killed and started again, nothing is lost and nothing done twice', async ({
  expect,
}) => {
  const path = fileURLToPath(new URL('../examples/two-clients.mjs', import.meta.url))
  const { stdout, stderr } = await example(process.execPath, [path])
  expect({ lines: stdout.trimEnd().split('\n'), stderr }).toEqual({
    lines: [
      'Ben sees what Ann says: Ann was here',
      'Ann has her echo: it is on the disk',
      'The host was killed and started again',
      'Ben is told exactly what he missed: replay ["While Ben was away"]',
      'Sent twice, done once: true',
      'Numbers go on: true',
    ],
    stderr: '',
  })
})

test.concurrent('[A4] [N3] [V6] examples/shared-turn.mjs: a turn shared at 1.0 and 0.9 outlives its host', async ({
  expect,
}) => {
  const path = fileURLToPath(new URL('../examples/shared-turn.mjs', import.meta.url))
  const { stdout, stderr } = await example(process.execPath, [path])
  expect({ lines: stdout.trimEnd().split('\n'), stderr }).toEqual({
    lines: sharedTurn,
    stderr: '',
  })
})

test.concurrent('[A4] [Y4] [Y6] examples/terminal.mjs: a shell shared by two, handed over, with a cut link in between', async ({
  expect,
}) => {
  const path = fileURLToPath(new URL('../examples/terminal.mjs', import.meta.url))
  const { stdout, stderr } = await example(process.execPath, [path])
  expect({ lines: stdout.trimEnd().split('\n'), stderr }).toEqual({
    lines: [
      'Ann has a shell, and Ben watches it.',
      'Ann types, Ben sees the command, its output 42 and its exit code 0.',
      'Ben types, too, and is refused: this terminal is held by another client.',
      'Ann hands the terminal to Ben.',
      'Ben was cut off and comes back by replay: while you were away.',
      'Ben ends it, and both see how: exit 3. They have the same state.',
    ],
    stderr: '',
  })
})

test.concurrent('[A4] [X1] [X2] [X5] [X6] examples/decisions.mjs: what people decide is shared, and outlives the host', async ({
  expect,
}) => {
  const path = fileURLToPath(new URL('../examples/decisions.mjs', import.meta.url))
  const { stdout, stderr } = await example(process.execPath, [path])
  expect({ lines: stdout.trimEnd().split('\n'), stderr }).toEqual({
    lines: [
      'Ben is asked as well: Run `ls`',
      'He makes it "ls | wc -l", and both see what it says: 1',
      'Ann is too late: no such turn is in progress',
      'Cat answers a form of a chat that she never opened: - What shall it be called? Atrium',
      'The host is killed and started again: it asks still, and 2 messages wait.',
      'Dan approves; it was done once: "hello\\nonce\\n"',
      'Then the queue: first, second',
      'Nobody is asked, and the session is idle, like its 1 chat.',
      'Allowed for good, and not asked again: read in work, by dan',
      'Taken back, it is asked for again: Read `notes.txt`',
    ],
    stderr: '',
  })
})

test.concurrent('[A4] [U11] [X7] [X9] [H17.7] [U12] examples/client-tools.mjs: a tool and a plugin of a client are used, whatever breaks meanwhile', async ({
  expect,
}) => {
  const path = fileURLToPath(new URL('../examples/client-tools.mjs', import.meta.url))
  const { stdout, stderr } = await example(process.execPath, [path])
  expect({ lines: stdout.trimEnd().split('\n'), stderr }).toEqual({
    lines: [
      "Ben sees Ann's plugin: skill measuring, rule units, mcpServer rooms",
      'To allow these programs, enable this customization: node ${PLUGIN_ROOT}/rooms.mjs',
      'He allows its server and a call of it, and the guide says: kitchen, cellar',
      "Ben asks, and the tool runs at Ann's: Ann unrolls the tape.",
      'It is done, and the guide says: 12 feet',
      'Ann is cut off for 20 s while it runs, and comes back: 12 feet, after 2 runs of 2 calls',
      'The host is killed and started again: the call is running',
      'Ann completes it: 12 feet, after 3 runs of 3 calls',
      'Ann vanishes for good. After 30 s the call has failed (false): The call failed: The client that provides this tool has left',
      'Her plugin has left the session with her, and its server with it.',
    ],
    stderr: '',
  })
})

test.concurrent('[A4] [H42] [H42.2] [H42.3] [H43.1] examples/automations.mjs: killed when a run is due, started an hour later, and nothing is missed silently', async ({
  expect,
}) => {
  const path = fileURLToPath(new URL('../examples/automations.mjs', import.meta.url))
  const { stdout, stderr } = await example(process.execPath, [path])
  expect({ lines: stdout.trimEnd().split('\n'), stderr }).toEqual({
    lines: [
      'Ann, of 1.0, creates an automation for every minute: accepted',
      'It is due, and a session begins: running',
      'Ben, of 0.1, approves what it asks. The run is completed',
      'The host is killed at a due instant, and started an hour later.',
      'The log says why the runs of that hour were missed: host away true',
      'Each due instant is a run or is missed, once: true',
    ],
    stderr: '',
  })
})

test.concurrent('[A4] [V8] [C16] examples/every-version.mjs: five versions share a session that outlives its host', async ({
  expect,
}) => {
  const path = fileURLToPath(new URL('../examples/every-version.mjs', import.meta.url))
  const { stdout, stderr } = await example(process.execPath, [path])
  expect({ lines: stdout.trimEnd().split('\n'), stderr }).toEqual({
    lines: [
      'At 1.0 the session is ahp-session:/shared, and at 0.1 it is guide:/shared.',
      'A client of 1.0 wants a command to be run, and all five are asked.',
      'The client of 0.1 approves it, and all five see that it ran.',
      'The client of 0.6 misses a new title. Then the host is killed.',
      'All five come back, and have the title.',
      'It goes on at 0.9, and all five read: And on it goes.',
      'Each has the state that a new client of its version gets.',
    ],
    stderr: '',
  })
})

test.concurrent('[A4] [O35] [O37] [O44] [O47] [O59] [H30] examples/review.mjs: changes are reviewed, undone, committed and applied, also if the host is killed', async ({
  expect,
  skip,
}) => {
  skip(spawnSync('git', ['--version']).error !== undefined, 'no git')
  const path = fileURLToPath(new URL('../examples/review.mjs', import.meta.url))
  const { stdout, stderr } = await example(process.execPath, [path])
  expect({ lines: stdout.trimEnd().split('\n'), stderr }).toEqual({
    lines: [
      'Ben sees what the turn has changed: list.txt, notes.txt, plan.txt, table.txt',
      "Undo would do this. Set back to before the turn: list.txt, plan.txt. Left as they are, because others changed them, too: notes.txt. Left as they are, unless you choose them: table.txt changed while `sed -i 's/line 4[.]/the fourth line/' table.txt` ran; it may be a person's work.",
      'Ann marks a hunk of plan.txt as reviewed. Ben sees the mark: 1 of 2 hunks',
      'Ann undoes list.txt, and the host is killed meanwhile. The file is whole: true',
      'What a person typed is still there: true',
      'The rest is committed: Say it in words, notes.txt, plan.txt, table.txt',
      'Ann comments on line 2, and the guide answers. Ben reads: Because words are easier to read.',
      'A session in a worktree writes idea.txt. It is in the main checkout: false',
      'Ann applies it, and the host is killed meanwhile. The main checkout has: a new idea',
    ],
    stderr: '',
  })
})

describe('[A4] the README and its pages', () => {
  const root = fileURLToPath(new URL('..', import.meta.url))
  const snippets = (language: string, page = 'README.md') =>
    [
      ...readFileSync(`${root}/${page}`, 'utf8').matchAll(
        new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'),
      ),
    ].map(([, text = '']) => text)
  const run = (program: string, env: NodeJS.ProcessEnv = {}) => {
    const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
      cwd: root,
      encoding: 'utf8',
      env: { ...process.env, ...env },
    })
    return { lines: stdout.trimEnd().split('\n'), stderr }
  }

  test('its programs run as they are printed, also a second time', async () => {
    const [client = '', embedded = '', ...others] = snippets('js')
    expect(others).toEqual([])
    expect(run(embedded)).toEqual({ lines: ['AHP 1.0.0'], stderr: '' })
    const home = mkdtempSync(join(tmpdir(), 'atrium-readme-'))
    const host = await HostProcess.start(home)
    onTestFinished(() => host.kill())
    const token = readFileSync(join(home, 'data', 'token'), 'utf8').trim()
    for (let time = 0; time < 2; time++) {
      const { lines, stderr } = run(client, { ATRIUM_URL: host.url, ATRIUM_TOKEN: token })
      expect(stderr).toBe('')
      expect(lines).toContain('shown: Mine unconfirmed: 1')
      expect(lines).toContain('the host: accepted')
    }
  })

  test('the config file of docs/agents.md is accepted', async () => {
    const [file = ''] = snippets('json', 'docs/agents.md')
    const home = mkdtempSync(join(tmpdir(), 'atrium-readme-'))
    mkdirSync(join(home, 'atrium'))
    writeFileSync(join(home, 'atrium', 'config.json'), file)
    const { settings, warnings } = await configure({}, { XDG_CONFIG_HOME: home, HOME: home })
    expect([Object.keys(settings.agents ?? {}), warnings]).toEqual([['mine', 'cline'], []])
  })

  test('the commands of docs/commands.md exist, and docs/programs.md shows what the example prints', () => {
    const shown = snippets('text', 'docs/programs.md').find((text) => text.startsWith('Ann speaks'))
    expect(shown?.trimEnd().split('\n')).toEqual(sharedTurn)
    const { stdout } = spawnSync(process.execPath, [`${root}/packages/cli/bin/atrium.mjs`, '--help'], {
      encoding: 'utf8',
    })
    const known = new Set([...stdout.matchAll(/^ {2}([a-z]+)/gm)].map(([, name]) => name))
    const commands = readFileSync(`${root}/docs/commands.md`, 'utf8')
    const used = [...commands.matchAll(/^\| `atrium ([a-z]+)/gm)].map(([, name]) => name)
    expect(used.length).toBeGreaterThan(15)
    expect(used.filter((name) => !known.has(name))).toEqual([])
  })
})

test.concurrent('[A4] [U1] [U4] examples/client.mjs: shown at once, taken back, and on by itself when the host was killed', async ({
  expect,
}) => {
  const path = fileURLToPath(new URL('../examples/client.mjs', import.meta.url))
  const { stdout, stderr } = await example(process.execPath, [path])
  expect({ lines: stdout.trimEnd().split('\n'), stderr }).toEqual({
    lines: [
      'Shown at once: My session; the host says: nothing yet',
      'Then: accepted',
      'What may not be is taken back: refused, a client can only add or remove itself as an active client',
      'The answer grows.',
      'The link is stale; shown all the same: Said while nobody listened',
      'Then: accepted, and the link is live.',
      'The turn says what became of it: error. Nothing is pending: true',
    ],
    stderr: '',
  })
})
