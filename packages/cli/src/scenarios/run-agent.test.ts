import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { documents } from '../../test/command.ts'
import { CliFixture } from '../../test/fixture.ts'

const program = fileURLToPath(new URL('../../../adapters/test/acp-agent.mjs', import.meta.url))
const fixture = new CliFixture()
const agents = {
  scripted: { command: process.execPath, args: [program], env: { ACP_STORE: fixture.work } },
  missing: { command: '/no/such/agent' },
  bold: {
    command: process.execPath,
    args: [program],
    env: { ACP_STORE: fixture.work },
    actsWithoutAsking: true,
  },
}
const mcpServers = {
  tickets: { command: '/opt/tickets', env: { TICKETS_KEY: 'hush-hush' } },
  docs: { url: 'https://docs.example/mcp', headers: { Authorization: 'Bearer hush-hush' } },
}
beforeAll(() => {
  mkdirSync(join(fixture.home, '.config/atrium'), { recursive: true })
  writeFileSync(join(fixture.home, '.config/atrium/config.json'), JSON.stringify({ mcpServers }))
  return fixture.open(agents)
})
afterEach(({ task }) => fixture.closeWindows(task.result?.state === 'fail'))
afterAll(() => fixture.close())

const script = ['say I shall write it.', 'call c edit Write it', 'ask c', 'say All is done.'].join('\n')

describe('[Z31] an agent program', () => {
  test('[Z31.1] its text is shown above its request, and its own options are offered', async () => {
    const window = fixture.window(['run', '--agent', 'scripted', script])
    const asked = await window.until('[r] no, because')
    expect(asked).toMatch(/I shall write it\.\n\? Write it\n\[y\] .* \[r\] no, because/)
    window.press('y')
    expect(await window.ended()).toBe(0)
    // The agent reports the user's answer (`c …`) in a part of its own. The end of the call may be shown before or after
    // that part.
    expect(window.text).toMatch(/✓ Write it\n(?:c \S+\n)?All is done\.\n\[exit 0\]$/)
  })

  test('[Z31.1] an approval in advance takes the narrowest of its options', async () => {
    const { status, stdout } = await fixture.run([
      'run',
      '--agent',
      'scripted',
      '--allow',
      'once',
      '--quiet',
      script,
    ])
    expect([status, stdout]).toEqual([0, expect.stringMatching(/c \S*once/)])
  })

  test('[N52.4] [N52] one that acts without asking says so, and works only after somebody has agreed', async () => {
    expect((await fixture.run(['agents'])).stdout).toMatch(/^bold .*, acts without asking /m)
    const agreed = await fixture.run(['run', '--agent', 'bold', '--allow', 'once', 'say done'])
    expect([agreed.status, agreed.stdout]).toEqual([0, 'done\n'])
    expect(agreed.stderr).toMatch(/^· session \w{8} \(bold acts without asking\)\n/)
    const window = fixture.window(['run', '--agent', 'bold', 'say never'])
    expect(await window.until('[r] no, because')).toContain('Let it change files and run commands')
    window.press('n')
    expect(await window.ended()).toBe(1)
    expect(window.text).toContain('bold was not started.')
  })

  test('[Z27.2] a missing program fails with a sentence, and the host keeps running', async () => {
    const { status, stderr } = await fixture.run(['run', '--agent', 'missing', 'hello'])
    expect([status, stderr]).toEqual([
      1,
      expect.stringContaining('missing: there is no program "/no/such/agent"; install it, or'),
    ])
    const checked = await fixture.run(['agents', '--check'])
    expect(checked.stdout).toMatch(/^missing +missing +broken +missing: there is no program/m)
    expect(checked.stderr).toMatch(/^· missing: broken \(\d left\)$/m)
    expect(checked.stdout).toMatch(/^scripted .* ready /m)
    expect((await fixture.run(['run', '--quiet', 'say hello'])).stdout).toBe('hello\n')
  })
})

describe('[Z32] MCP servers of a session', () => {
  test('are listed, and switched for the next turn; their secrets are in no output', async () => {
    await fixture.run(['run', '--agent', 'scripted', '--quiet', 'say hello'])
    expect((await fixture.run(['mcp', 'last'])).stdout).toBe(
      'tickets  on  ready\ndocs     on  this agent does not support MCP servers over http\n',
    )
    const off = await fixture.run(['mcp', 'last', 'tickets', '--off'])
    expect([off.status, off.stderr + off.stdout]).toEqual([0, 'tickets is off from the next turn on.\n'])
    await fixture.run(['send', 'last', 'say again', '--wait'])
    const listed = await fixture.run(['mcp', 'last', '--json'])
    expect(documents(listed.stdout)).toMatchObject([
      { name: 'tickets', on: false, state: { kind: 'stopped' } },
      { name: 'docs', on: true, state: { kind: 'error' } },
    ])
    const opened = readFileSync(join(fixture.work, 'opened'), 'utf8').trim().split('\n').slice(-2)
    expect(opened.map((line) => line.includes('/opt/tickets'))).toEqual([true, false])
    for (const about of [
      ['export', 'last', '--format', 'json'],
      ['logs', 'last', '--json'],
      ['agents', '--json'],
      ['doctor', '--json'],
    ])
      expect((await fixture.run(about)).stdout).not.toMatch(/hush-hush/)
  })

  test.each([
    [['mcp', 'last', 'nobody', '--on'], "This session has no MCP server 'nobody'; it has: tickets, docs."],
    [['mcp', 'last', 'tickets'], 'A server is switched with its name and --on or --off.'],
    [['mcp', 'last', '--on'], 'A server is switched with its name and --on or --off.'],
    [['mcp', 'last', 'tickets', '--on', '--off'], '--on and --off exclude each other; leave one out.'],
  ])('%j is a usage error', async (args, words) => {
    const { status, stderr } = await fixture.run(args)
    expect([status, stderr]).toEqual([2, expect.stringContaining(words)])
  })

  test('[H19] the host itself uses them for an agent that cannot', async () => {
    await fixture.run(['run', '--agent', 'guide', '--quiet', 'say hello'])
    const { stdout } = await fixture.run(['mcp', 'last', '--json'])
    expect(documents(stdout)).toMatchObject([
      {
        name: 'tickets',
        on: true,
        state: { kind: 'error', error: { message: expect.stringContaining('/opt/tickets') } },
      },
      { name: 'docs', on: true },
    ])
    expect(stdout).not.toContain('hush-hush')
  })
})
