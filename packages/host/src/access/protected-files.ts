import type { Uri } from '@atrium/protocol/channel'
import { pathOf } from '@atrium/protocol/file-uri'

/**
 * Files by which an agent could change how it, or whoever opens the folder next, is held: to write one is asked for every
 * time, whatever was allowed (S-35). In any case of letters, and with letters that nobody sees: some disks do not either.
 */
export function isProtected(uri: Uri): boolean {
  const names = namesOf(uri)
  return !names || names.some((name) => folders.has(name)) || files.has(names.at(-1) ?? '')
}

/**
 * Files that people keep from others: keys, tokens, and where programs put them. No agent looks into one unless somebody agrees to
 * it (N22).
 */
export function isSecret(uri: Uri): boolean {
  const names = namesOf(uri)
  if (!names || secret.test(names.at(-1) ?? '')) return true
  return names.some((name, i) => hidden.has(name) || (names[i - 1] === '.config' && signedIn.has(name)))
}

function namesOf(uri: Uri): readonly string[] | undefined {
  const named = pathOf(uri)
  if (!named.ok) return undefined
  return named.path.split('/').map((name) =>
    name
      .replaceAll(/\p{Default_Ignorable_Code_Point}/gu, '')
      .normalize('NFKC')
      .toLowerCase()
      .replace(/[. ]+$/, ''),
  )
}

const hidden = new Set(['.git', '.ssh', '.gnupg', '.aws', '.azure', '.kube', '.docker', '.atrium'])
/** Programs that keep what they sign in with among their settings. */
const signedIn = new Set(['gh', 'gcloud', 'glab-cli', 'op', 'sops', 'rclone'])
const secret =
  /^(?:\.env(?!\.(?:example|sample|template)$)(?:\..*)?|\.envrc|[._]netrc|\.npmrc|\.pypirc|\.git-credentials|\.pgpass|\.htpasswd|\.vault-token|credentials(?:\.(?:json|toml|ya?ml|ini))?|id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?|.*\.env|.*\.(?:pem|key|p12|pfx|jks|keystore))$/

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
