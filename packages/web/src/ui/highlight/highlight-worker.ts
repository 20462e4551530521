import highlighter from 'highlight.js/lib/core'
import bash from 'highlight.js/lib/languages/bash'
import c from 'highlight.js/lib/languages/c'
import cpp from 'highlight.js/lib/languages/cpp'
import csharp from 'highlight.js/lib/languages/csharp'
import css from 'highlight.js/lib/languages/css'
import diff from 'highlight.js/lib/languages/diff'
import go from 'highlight.js/lib/languages/go'
import java from 'highlight.js/lib/languages/java'
import json from 'highlight.js/lib/languages/json'
import kotlin from 'highlight.js/lib/languages/kotlin'
import markdown from 'highlight.js/lib/languages/markdown'
import php from 'highlight.js/lib/languages/php'
import python from 'highlight.js/lib/languages/python'
import ruby from 'highlight.js/lib/languages/ruby'
import rust from 'highlight.js/lib/languages/rust'
import sql from 'highlight.js/lib/languages/sql'
import swift from 'highlight.js/lib/languages/swift'
import typescript from 'highlight.js/lib/languages/typescript'
import xml from 'highlight.js/lib/languages/xml'
import yaml from 'highlight.js/lib/languages/yaml'
import { spansOf } from './highlight-spans.ts'

const languages = {
  bash,
  c,
  cpp,
  csharp,
  css,
  diff,
  go,
  java,
  json,
  kotlin,
  markdown,
  php,
  python,
  ruby,
  rust,
  sql,
  swift,
  typescript,
  xml,
  yaml,
}
for (const [name, language] of Object.entries(languages)) highlighter.registerLanguage(name, language)
highlighter.registerAliases(['js', 'jsx', 'javascript', 'mjs', 'tsx'], { languageName: 'typescript' })

interface Request {
  readonly id: number
  readonly text: string
  readonly language: string
}

// The types are those of a window, whose `postMessage` has more parameters than that of a worker: hence the cast.
const post = postMessage as (message: unknown) => void

addEventListener('message', ({ data }: MessageEvent<Request>) => {
  const known = highlighter.getLanguage(data.language) !== undefined
  const spans = known
    ? spansOf(highlighter.highlight(data.text, { language: data.language, ignoreIllegals: true }).value)
    : undefined
  post({ id: data.id, spans })
})
