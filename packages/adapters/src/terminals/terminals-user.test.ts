import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { startShell } from '../../../host/src/ports/contracts/terminals.contract.ts'
import { isMissing, openPrompt } from '../../test/shell-prompt.ts'
import { homeWith, until } from '../../test/shells.ts'
import { ptyTerminals } from './terminals.ts'

describe('[M6] [M6.2] bash keeps the settings of its user', () => {
  const bashrc = (text: string) => openPrompt('bash', { '.bashrc': `PS1="$ "\n${text}` })

  test('PROMPT_COMMAND, single or array, with the exit status of the command', async () => {
    for (const set of ['PROMPT_COMMAND=mine', 'PROMPT_COMMAND=(true mine)', 'PROMPT_COMMAND="mine; "']) {
      const { run, text } = await bashrc(`mine() { echo "<status $? \${PIPESTATUS[*]}>"; }\n${set}`)
      expect(await run('(exit 3)')).toMatchObject({ exitCode: 3, output: '' })
      await until(() => text().includes('<status 3'))
      await run('false | true')
      await until(() => text().includes('<status 0 1 0>'))
    }
  })

  test('a DEBUG trap, PS0, PS1 and nounset', async () => {
    const { run, text } = await bashrc(`trap 'echo "<debug $BASH_COMMAND>"' DEBUG\nPS0='<zero>'\nset -u`)
    expect((await run('echo x')).output).toContain('<debug echo x>')
    expect(text()).toContain('<zero>')
    expect(text()).not.toContain('unbound')
  })

  test('set -x and set -e, without traces of the integration', async () => {
    const { run, type, text, prompts } = await bashrc('')
    await run('set -xe')
    expect((await run('echo x')).output).toBe('+ echo x\r\nx\r\n')
    await until(() => prompts() >= 3)
    type('broken off\x03')
    await until(() => prompts() >= 4)
    expect((await run('true')).exitCode).toBe(0)
    expect(text()).not.toContain('atrium')
  })

  test('BASH_REMATCH and $_ across a prompt', async () => {
    const { run } = await bashrc('')
    await run('[[ abc =~ b ]]')
    expect((await run('echo "<${BASH_REMATCH[0]}>"')).output).toBe('<b>\r\n')
    await run('true last-word')
    expect((await run('echo "<$_>"')).output).toBe('<last-word>\r\n')
  })

  test('a prompt without expansion (promptvars off)', async () => {
    const { type, text } = await bashrc('shopt -u promptvars; PS0="<zero>"')
    type('echo done$((1))\r')
    await until(() => text().includes('done1'))
    expect(text()).not.toMatch(/atrium/)
  })

  test('[M6.3] a line that the user keeps out of the history is reported as empty', async () => {
    const { run } = await bashrc('HISTCONTROL=ignoreboth')
    expect((await run('echo one')).line).toBe('echo one')
    expect((await run(' echo secret')).line).toBe('')
    expect((await run('echo two')).line).toBe('echo two')
  })

  test('a line that repeats the last one is reported', async () => {
    const { run } = await bashrc('HISTCONTROL=ignoredups')
    for (let i = 0; i < 3; i++) expect((await run('echo one')).line).toBe('echo one')
  })

  test('startup files are read as usual', async () => {
    const { run } = await bashrc('mine=1; return 0; mine=2')
    expect((await run('echo "$mine $- $BASH_VERSION $0"')).output).toMatch(/^1 \w*i\w* 5/)
    expect((await run('shopt login_shell; alias; declare -p PROMPT_COMMAND')).output).toContain('login_shell')
  })

  test('other users cannot read the startup script', async () => {
    const given = '"${BASH_SOURCE[1]}"'
    const { text } = await bashrc(`stat -c '<%a>' ${given} "$(dirname ${given})"`)
    expect(text()).toContain('<600>\r\n<700>')
  })

  test('bash before 5.1 has one PROMPT_COMMAND', async () => {
    const path = new URL('./bash.sh', import.meta.url)
    const old = readFileSync(path, 'utf8').replace('>= 501', '>= 9901')
    const { home, env } = homeWith({
      '.bashrc': 'PS1="$ "; mine() { echo "<status $?>"; }; export PROMPT_COMMAND="mine"',
      init: `__atrium_nonce=n\n${old}`,
    })
    writeFileSync(join(home, 'go'), `exec bash --init-file ${home}/init`)
    const { shell, text } = await startShell(ptyTerminals({ shell: '/bin/bash', env: { ...env } }), {
      cwd: home,
      cols: 80,
      rows: 24,
      command: `. ./go`,
    })
    await until(() => text().includes('<status 0>'))
    shell.input('(exit 9)\r')
    await until(() => text().includes('<status 9>'))
  })
})

describe('[M6] [M6.2] zsh keeps the settings of its user', () => {
  if (isMissing('zsh')) return test('skipped: no zsh', ({ skip }) => skip('no zsh'))

  test('precmd and preexec, with the exit status', async () => {
    const { run, text } = await openPrompt('zsh', {
      '.zshrc': `PS1="$ "
        precmd() { echo "<status $?>"; }
        preexec() { echo "<exec $1>"; }
        other() { echo "<other $?>"; }
        precmd_functions+=(other)`,
    })
    expect((await run('(exit 3)')).exitCode).toBe(3)
    await until(() => text().includes('<status 3>') && text().includes('<other 3>'))
    expect(text()).toContain('<exec (exit 3)>')
  })

  test('set -x shows nothing of the integration', async () => {
    const { run, said } = await openPrompt('zsh')
    await run('set -x')
    expect((await run('echo x')).output).toContain('x\r\n')
    await run('true')
    // Only the output is searched: the id of a command is random and may contain 633.
    const shown = said.map((each) => (each.type === 'terminal/data' ? each.data : ''))
    expect(shown.join('')).not.toMatch(/nonce|633/)
  })

  test('its startup files, in their order, and its ZDOTDIR', async () => {
    const files = Object.fromEntries(
      ['.zshenv', '.zprofile', '.zlogin'].map((name) => [`z d/${name}`, `mine+=" ${name}"`]),
    )
    const { home, env } = homeWith({
      ...files,
      'z d/.zshrc': 'PS1="$ "; mine+=" .zshrc"',
      '.zshrc': 'echo wrong',
    })
    const terminals = ptyTerminals({ shell: '/bin/zsh', env: { ...env, ZDOTDIR: `${home}/z d` } })
    const { shell, text } = await startShell(terminals, { cwd: home, cols: 80, rows: 24 })
    shell.input('echo "<$mine>" "<${ZDOTDIR:t}>" "<${HISTFILE:h:t}>"\r')
    await until(() => text().includes('< .zshenv .zshrc> <z d>'))
    expect(text()).not.toContain('wrong')
  })

  test('ZDOTDIR stays unset if the user has none', async () => {
    const { run } = await openPrompt('zsh', { '.zshenv': 'mine=1' })
    expect((await run('echo "<$mine ${+ZDOTDIR}>"')).output).toContain('<1 0>')
    expect((await run('env | grep -c ZDOTDIR')).output).toContain('0')
  })

  test('a ZDOTDIR that is set in .zshenv', async () => {
    const { home, env } = homeWith({
      '.zshenv': 'export ZDOTDIR=~/.config',
      '.config/.zshrc': 'PS1="$ "; mine=there',
    })
    const { shell, text } = await startShell(ptyTerminals({ shell: '/bin/zsh', env }), {
      cwd: home,
      cols: 80,
      rows: 24,
    })
    shell.input('echo "<$mine $ZDOTDIR>"\r')
    await until(() => text().includes(`<there ${home}/.config>`))
  })
})
