import type { Uri } from '@atrium/protocol/channel'
import { pathOf } from '@atrium/protocol/file-uri'

/**
 * Returns whether a file configures tools or agents, so that writing it could lift restrictions. Each write of such a file
 * needs a user's approval; no permission replaces it (S-35). Case and invisible characters are ignored, as some file systems
 * ignore them.
 */
export function isProtected(uri: Uri): boolean {
  const names = namesOf(uri)
  return !names || names.some((name) => protectedFolders.has(name)) || protectedFiles.has(names.at(-1) ?? '')
}

/** Returns whether a file is likely to hold keys or tokens. An agent reads such a file only after an approval (N22). */
export function isSecret(uri: Uri): boolean {
  const names = namesOf(uri)
  if (!names || secretFile.test(names.at(-1) ?? '')) return true
  return names.some(
    (name, i) => secretFolders.has(name) || (names[i - 1] === '.config' && secretConfigs.has(name)),
  )
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

const secretFolders = new Set(['.git', '.ssh', '.gnupg', '.aws', '.azure', '.kube', '.docker', '.atrium'])
/** Programs that store credentials in `.config/<name>`. */
const secretConfigs = new Set(['gh', 'gcloud', 'glab-cli', 'op', 'sops', 'rclone'])
const secretFile =
  /^(?:\.env(?!\.(?:example|sample|template)$)(?:\..*)?|\.envrc|[._]netrc|\.npmrc|\.pypirc|\.git-credentials|\.pgpass|\.htpasswd|\.vault-token|credentials(?:\.(?:json|toml|ya?ml|ini))?|id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?|.*\.env|.*\.(?:pem|key|p12|pfx|jks|keystore))$/

const protectedFolders = new Set([
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
const protectedFiles = new Set([
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
