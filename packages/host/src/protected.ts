import type { Uri } from '@atrium/protocol/channel'
import { pathOf } from '@atrium/protocol/file-uri'

/**
 * Files by which an agent could change how it, or whoever opens the folder next, is held: to write one is asked for every
 * time, whatever was allowed (S-35). In any case of letters, and with letters that nobody sees: some disks do not either.
 */
export function isProtected(uri: Uri): boolean {
  const named = pathOf(uri)
  if (!named.ok) return true
  const names = named.path.split('/').map((name) =>
    name
      .replaceAll(/\p{Default_Ignorable_Code_Point}/gu, '')
      .normalize('NFKC')
      .toLowerCase()
      .replace(/[. ]+$/, ''),
  )
  return names.some((name) => folders.has(name)) || files.has(names.at(-1) ?? '')
}

const folders = new Set([
  '.git',
  '.vscode',
  '.idea',
  '.claude',
  '.codex',
  '.gemini',
  '.cursor',
  '.github',
  '.husky',
  '.ssh',
  '.config',
  '.atrium',
])
const files = new Set([
  '.mcp.json',
  'mcp.json',
  'package.json',
  '.npmrc',
  '.yarnrc.yml',
  '.envrc',
  '.gitconfig',
  '.gitmodules',
  '.gitattributes',
  '.bashrc',
  '.bash_profile',
  '.profile',
  '.zshrc',
  '.zshenv',
  '.zprofile',
  'makefile',
  'agents.md',
  'claude.md',
  'gemini.md',
])
