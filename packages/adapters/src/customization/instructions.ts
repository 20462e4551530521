import { createHash } from 'node:crypto'
import type { InstructionFile } from '@atrium/host/ports/customized'
import { pathOf } from '@atrium/protocol/file-uri'

/** Shortens instructions to a number of characters that leaves a small model room for the conversation. */
export function fittedTo(files: readonly InstructionFile[], maxLength: number): readonly InstructionFile[] {
  let room = Math.max(0, maxLength)
  return files.map((file) => {
    const text = file.text.slice(0, room).replace(/[\ud800-\udbff]$/, '')
    room -= text.length
    return text.length < file.text.length ? { ...file, text, isCut: true } : file
  })
}

/** Returns the paragraphs of the system prompt with the instructions of the project. */
export function instructionParagraphs(files: readonly InstructionFile[]): readonly string[] {
  return files
    .filter(({ text }) => text !== '')
    .map((file) => {
      const rest = file.isCut ? '\n\n(The rest of this file is left out here.)' : ''
      return `Instructions of this project, from ${nameOf(file)}. What people ask in this chat goes before them.\n\n${file.text}${rest}`
    })
}

/** Returns a digest of the instructions, which changes when they change. Empty if there are none. */
export function digestOf(files: readonly InstructionFile[]): string {
  if (files.length === 0) return ''
  const parts = files.map(({ uri, text, isCut, problem = '' }) => [uri, text, isCut, problem])
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 16)
}

/**
 * Returns the notice that tells users which instructions are in force. `isFirst`: the chat had no instructions
 * before.
 */
export function instructionNotice(files: readonly InstructionFile[], isFirst: boolean): string {
  const lines = files.map((file) => {
    const { text, isCut, problem } = file
    if (problem !== undefined) return `${nameOf(file)} is not followed: ${problem}.`
    if (text === '') return `${nameOf(file)} has no instructions.`
    const length = `${isCut ? 'the first ' : ''}${text.length.toLocaleString('en')} characters`
    return `Instructions ${isFirst ? '' : 'now '}in force: ${nameOf(file)} (${length}).`
  })
  return lines.length === 0 ? 'There is no file with instructions any more.' : lines.join('\n')
}

function nameOf({ uri }: InstructionFile): string {
  const named = pathOf(uri)
  return named.ok ? named.path : uri
}
