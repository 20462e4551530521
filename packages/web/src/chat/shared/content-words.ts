import type { ContentRef } from '@atrium/protocol/common/content'
import { ownMember } from './member.ts'
import { visibleText } from './text.ts'

export interface ContentWords {
  readonly name: string
  /** The media type without its parameters. Empty: nobody has said. */
  readonly type: string
  /** Whether the content is a file of the host's machine. */
  readonly isFile: boolean
  /** What else is known, for a person: the folder, the type, the size. */
  readonly about: readonly string[]
}

/** Content in words. A file is named by its URI alone, because an agent may call it anything. */
export function contentWords(content: ContentRef): ContentWords {
  const { uri, contentType = '', sizeHint } = content
  const path = uri.startsWith('file:') ? decoded(uri.replace(/^file:\/\/[^/]*/, '')) : undefined
  const file = path?.split('/').at(-1)
  const given = contentType.split(';')[0]?.trim().toLowerCase() ?? ''
  const type =
    given === '' ? (pictures.get(/\.(\w+)$/.exec(file ?? '')?.[1]?.toLowerCase() ?? '') ?? '') : given
  const own = ownMember(content, 'name')
  const name = file ?? (typeof own === 'string' && own !== '' ? own : kindOf(uri, type))
  const about = [
    path?.slice(0, -name.length - 1) ?? (/^(?:ahp-content|https?|mailto):/.test(uri) ? '' : uri),
    type,
    sizeHint === undefined ? '' : sizeWords(sizeHint),
  ]
  return {
    name: visibleText(name).slice(0, 200) || 'Content',
    type,
    isFile: path !== undefined,
    about: about.filter(Boolean).map((each) => visibleText(each).slice(0, 500)),
  }
}

/** Whether the page shows pictures of this type. An SVG may contain scripts, and is never one of them. */
export function isPicture(type: string): boolean {
  return /^image\/(?:png|jpeg|gif|webp)$/.test(type)
}

/** Whether the page can show such content. Of a file whose type nobody has said, this is known when it is read. */
export function opens({ type, isFile }: ContentWords): boolean {
  return isPicture(type) || /^text\/|^application\/(?:.*\+)?json$/.test(type) || (isFile && type === '')
}

/** A size as people say it. */
function sizeWords(bytes: number): string {
  if (bytes < 1000) return bytes === 1 ? '1 byte' : `${bytes} bytes`
  const [unit, of] = bytes < 1_000_000 ? ['kB', 1000] : ['MB', 1_000_000]
  return `${(bytes / Number(of)).toLocaleString('en', { maximumFractionDigits: 1 })} ${unit}`
}

function kindOf(uri: string, type: string): string {
  if (!uri.startsWith('ahp-content:')) return 'Link'
  if (type.startsWith('image/')) return 'Picture'
  if (type.startsWith('audio/')) return 'Sound'
  return type === 'text/markdown' ? 'More of this answer' : 'Content'
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

const pictures = new Map([
  ['png', 'image/png'],
  ['jpg', 'image/jpeg'],
  ['jpeg', 'image/jpeg'],
  ['gif', 'image/gif'],
  ['webp', 'image/webp'],
])
