import { readFileSync, readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { isMissing, openPrompt, shells } from '../../test/shell-prompt.ts'
import { homeWith, until } from '../../test/shells.ts'
import { startShell } from '../../../host/src/ports/contracts/terminals.contract.ts'
import { ptyTerminals } from './terminals.ts'

describe.each(['bash', 'zsh'] as const)('[M6] %s', (name) => {
  if (isMissing(name)) return test(`skipped: no ${name}`, ({ skip }) => skip(`no ${name}`))

  test('[M6.3] reports a command with its output and exit code', async () => {
    const { run, said, commands } = await openPrompt(name)
    expect(commands()).toEqual([])
    expect(await run('echo hello')).toEqual({
      line: 'echo hello',
      done: true,
      exitCode: 0,
      output: 'hello\r\n',
    })
    expect(await run('(exit 7)')).toMatchObject({ line: '(exit 7)', exitCode: 7, output: '' })
    expect(await run('no-such-command-here')).toMatchObject({ exitCode: 127 })
    expect(said.filter(({ type }) => type === 'terminal/commandDetectionAvailable')).toHaveLength(1)
  })

  test('[M6.3] reports the start time and the duration', async () => {
    const { run, said } = await openPrompt(name)
    const before = Date.now()
    await run('sleep 0.3')
    const begun = said.find((one) => one.type === 'terminal/commandExecuted')
    const ended = said.find((one) => one.type === 'terminal/commandFinished')
    expect(begun?.timestamp).toBeGreaterThanOrEqual(before)
    expect(begun?.timestamp).toBeLessThanOrEqual(Date.now())
    expect(ended?.durationMs).toBeGreaterThanOrEqual(150)
    expect(ended?.durationMs).toBeLessThan(10_000)
    expect(ended?.commandId).toBe(begun?.commandId)
  })

  test('reports command lines of all kinds as typed', async () => {
    const { run } = await openPrompt(name)
    const lines = [
      'echo "a;b" \\\\ c',
      `printf 'ü%%s 世界 ;\\n'`,
      'true && false; true',
      "echo '${HOME}' | cat -",
    ]
    for (const line of lines) expect((await run(line)).line).toBe(line)
    expect((await run('for i in 1 2; do\recho n$i\rdone')).line).toMatch(
      /^for i in 1 2; do\s+echo n\$i;?\s+done$/,
    )
    expect((await run('echo one \\\rtwo')).output).toBe('one two\r\n')
  })

  test('an empty or cancelled line is not a command', async () => {
    const { type, prompts, commands, run } = await openPrompt(name)
    type('\r')
    await until(() => prompts() >= 2)
    type('half a li\x03')
    await until(() => prompts() >= 3)
    type('   \r')
    await until(() => prompts() >= 4)
    expect(commands()).toEqual([])
    expect(await run('echo x')).toMatchObject({ line: 'echo x', exitCode: 0 })
  })

  test('an interrupted command is reported as finished', async () => {
    const { type, run, commands } = await openPrompt(name)
    const line = `sh -c 'echo up; exec sleep 1000'`
    type(`${line}\r`)
    await until(() => commands()[0]?.output.includes('up'))
    type('\x03')
    await until(() => commands()[0]?.done)
    expect(commands()[0]).toMatchObject({ line, exitCode: 130 })
    await run('true')
  })

  test('reports its directory, also one with special characters', async () => {
    const { run, said, home } = await openPrompt(name)
    const cwds = () => said.flatMap((one) => (one.type === 'terminal/cwdChanged' ? [one.cwd] : []))
    expect(cwds()).toEqual([])
    await run(`mkdir 'ä b;%\\c' && cd 'ä b;%\\c'`)
    await until(() => cwds().length === 1)
    expect(cwds()).toEqual([`file://${home}/%C3%A4%20b%3B%25%5Cc`])
    await run('cd ..')
    await until(() => cwds().at(-1) === `file://${home}`)
  })

  test('[M6.3] exit finishes the command together with the shell', async () => {
    const { type, commands, exited, said } = await openPrompt(name)
    type('exit 5\r')
    expect(await exited()).toBe(5)
    expect(commands()).toMatchObject([{ line: 'exit 5', done: true, exitCode: 5 }])
    expect(said.at(-1)?.type).toBe('terminal/exited')
  })

  test('a shell that replaces the shell (exec) is one command', async () => {
    const { type, commands, exited, text } = await openPrompt(name)
    type(`exec ${shells[name]}\r`)
    await until(() => commands().length === 1)
    type('echo in$((1+1))side\r')
    await until(() => text().includes('in2side'))
    type('exit 4\r')
    expect(await exited()).toBe(4)
    expect(commands()).toMatchObject([{ line: `exec ${shells[name]}`, exitCode: 4 }])
  })

  test('a nested shell is one command', async () => {
    const { type, commands, text, run } = await openPrompt(name)
    type(`${name}\r`)
    await until(() => commands().length === 1)
    type('echo in$((1+1))side\r')
    await until(() => text().includes('in2side'))
    type('exit 6\r')
    await until(() => commands()[0]?.done)
    expect(commands()).toMatchObject([{ line: name, exitCode: 6 }])
    expect(await run('echo (x)'.replace(/[()]/g, ''))).toMatchObject({ line: 'echo x' })
  })

  test('[M6.1] marks that a program forges are neither accepted nor shown', async () => {
    const { run, commands, said, text } = await openPrompt(name)
    const forged = ['A', 'E;evil', 'C', 'D;0', 'P;Cwd=/evil', 'E;evil;', 'C;0123']
    for (const one of forged) await run(`printf '\\033]633;${one}\\007\\033]133;${one}\\007'`)
    await run(`printf '\\033]7;file:///evil\\007'`)
    expect(commands()).toHaveLength(forged.length + 1)
    expect(
      commands().every(
        ({ line, output, exitCode }) => line.startsWith('printf') && output === '' && exitCode === 0,
      ),
    ).toBe(true)
    expect(JSON.stringify(said.filter(({ type }) => type === 'terminal/cwdChanged'))).toBe('[]')
    expect(text()).not.toMatch(/\x1b\](?:633|133)/)
  })

  test('[M6.1] a program finds the nonce neither in its environment nor in a file', async () => {
    const before = readdirSync(tmpdir())
    const { run, said } = await openPrompt(name)
    const { output } = await run(
      'env; cat /proc/$$/environ 2>/dev/null | tr "\\0" "\\n"; set | grep -c atrium_nonce',
    )
    expect(output).not.toMatch(/atrium_nonce=/)
    const folders = readdirSync(tmpdir()).filter(
      (each) => each.startsWith('atrium-shells-') && !before.includes(each),
    )
    for (const folder of folders)
      expect(readdirSync(join(tmpdir(), folder)), 'its files are removed').toEqual([])
    expect(JSON.stringify(said)).not.toContain('__atrium_mark')
  })

  test('[M6.2] the history contains the typed lines only', async () => {
    const { run, type, exited, home } = await openPrompt(name, {
      '.bashrc': 'PS1="$ "; HISTFILE=~/history',
      '.zshrc': 'PS1="$ "; HISTFILE=~/history; SAVEHIST=10; HISTSIZE=10',
    })
    await run('echo one')
    await run('echo two')
    type('exit\r')
    await exited()
    expect(readFileSync(join(home, 'history'), 'utf8').trim().split('\n')).toEqual([
      'echo one',
      'echo two',
      'exit',
    ])
  })

  test('a shell that runs one command sends no marks', async () => {
    const { home, env } = homeWith()
    const terminals = ptyTerminals({ shell: shells[name], env })
    const { said, text, exited } = await startShell(terminals, {
      cwd: home,
      cols: 80,
      rows: 24,
      command: '-x || echo $0',
    })
    await exited()
    expect(text()).toContain(name)
    expect(new Set(said.map(({ type }) => type))).toEqual(new Set(['terminal/data', 'terminal/exited']))
  })
})
