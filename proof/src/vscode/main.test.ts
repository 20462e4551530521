import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { labVariable } from './lab.ts'
import { steps } from './steps/steps.ts'

const main = fileURLToPath(new URL('../../dist/vscode/main.js', import.meta.url))
const vscode = (args: readonly string[], lab?: string) =>
  spawnSync(process.execPath, [main, ...args], {
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], ...(lab !== undefined && { [labVariable]: lab }) },
  })

test('[B44] without a workbench all steps are skipped, and counted', () => {
  const { status, stdout } = vscode([])
  expect({ status, stdout }).toEqual({
    status: 0,
    stdout: `skipped: no VS Code workbench (${steps.length} steps)\n`,
  })
  expect(vscode(['--only', 'rename a session']).stdout).toBe('skipped: no VS Code workbench (1 steps)\n')
})

test('[B44] a named folder that lacks the workbench is an error that names what is missing', () => {
  const folder = mkdtempSync(join(tmpdir(), 'atrium-lab-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const { status, stderr } = vscode([], folder)
  expect(status).toBe(1)
  expect(stderr).toBe(
    `vscode: ${labVariable} names ${folder}, but ${join(folder, 'cs/lib/vscode/out/server-main.js')} does not exist; see docs/vscode.md\n`,
  )
})

test.each([['--only', 'weather'], ['--nonsense'], ['word']])(
  '[B44] invalid arguments print the usage: %s %s',
  (...args) => {
    const { status, stderr } = vscode(args.filter((arg) => arg !== undefined))
    expect(status).toBe(2)
    expect(stderr).toContain('usage: npm run vscode')
  },
)
