import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { whyNotRunnable, programOf } from './program.ts'
import type { Machine } from './program.ts'
import { recipes } from './recipe.ts'

const goose = recipes.find(({ name }) => name === 'goose')
if (!goose) throw new Error('there is no goose')
const machine = (os: string, cpu: string, has = true): Machine => ({ os, cpu, has: () => has })

test('[B41] a program for another machine runs in an emulator, or the error says what is missing', () => {
  const arm = machine('linux', 'arm64')
  expect(programOf(goose, '/f', machine('linux', 'x64')).command).toBe(`/f/node_modules/${goose.program}`)
  expect(programOf(goose, '/f', arm)).toMatchObject({ command: expect.stringContaining('qemu') })
  expect(whyNotRunnable(goose, machine('linux', 'x64', false))).toBeUndefined()
  expect(whyNotRunnable(goose, arm)).toBeUndefined()
  expect(whyNotRunnable(goose, machine('linux', 'arm64', false))).toContain('install qemu-user-static')
  expect(whyNotRunnable(goose, machine('darwin', 'arm64'))).toContain('linux x64 only')
})

test.each(recipes)(
  '[B41] $name is pinned, uses only the scripted model, and stays in its own home folder',
  (recipe) => {
    const home = mkdtempSync(join(tmpdir(), 'atrium-recipe-'))
    const model = 'http://127.0.0.1:1'
    const env = recipe.configure(home, model, '/bin')
    const written = readdirSync(home, { recursive: true, withFileTypes: true }).filter((each) =>
      each.isFile(),
    )
    const files = written
      .map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'utf8'))
      .join('\n')
    rmSync(home, { recursive: true })
    expect(recipe.version).toMatch(/^\d+\.\d+\.\d+$/)
    expect(env['HOME']).toBe(home)
    expect([...Object.values(env), files].join('\n')).toContain(model)
  },
)
