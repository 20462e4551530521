import type { Uri } from '@atrium/protocol/channel'
import type {
  AgentCustomization,
  PromptCustomization,
  RuleCustomization,
  SkillCustomization,
} from '@atrium/protocol/session/customization'
import { glob } from '@atrium/protocol/text/glob'
import { compact } from '@atrium/protocol/update'
import { markdownFile } from './parse/frontmatter.ts'
import type { Frontmatter } from './parse/frontmatter.ts'
import { lastName } from './parse/plugin-path.ts'
import { checkedName, oneLine, printable, Unusable } from './parse/plugin-text.ts'
import type { Component, MarkdownComponent, PluginLimits, PromptComponent } from './plugin.ts'

/** The kinds of components that are stored as one Markdown file each. */
export type MarkdownKind = 'skill' | 'agent' | 'prompt' | 'rule'

/** The endings of the files of a kind. The name of a component is that of its file without the ending. */
export const endings: { readonly [K in MarkdownKind]: readonly string[] } = {
  skill: ['/SKILL.md'],
  agent: ['.agent.md', '.md'],
  prompt: ['.prompt.md', '.md'],
  rule: ['.instructions.md', '.mdc'],
}

export interface MarkdownSource {
  readonly path: string
  readonly uri: Uri
  readonly text: string
  /** The name for a component whose file does not contain one: the name of the skill's folder, or the name of the file. */
  readonly fallbackName: string
}

/** Reads a component from its file. Throws `Unusable` if the file cannot be used. */
export function readMarkdown(kind: MarkdownKind, source: MarkdownSource, limits: PluginLimits): Component {
  const { fields, body } = markdownFile(source.text, limits.frontmatterLength)
  const parts = { fields, source, limits, body }
  switch (kind) {
    case 'skill':
      return skill(parts)
    case 'agent':
      return agent(parts)
    case 'prompt':
      return prompt(parts)
    case 'rule':
      return rule(parts)
  }
}

/** The name of a component by its path: `commands/deploy.prompt.md` is `deploy`. */
export function nameByPath(kind: MarkdownKind, path: string): string {
  if (kind === 'skill') return lastName(path.slice(0, Math.max(0, path.lastIndexOf('/'))))
  const name = lastName(path)
  const ending = [...endings[kind], '.md'].find((each) => name.endsWith(each) && name.length > each.length)
  return ending === undefined ? name : name.slice(0, -ending.length)
}

interface Parts {
  readonly fields: Frontmatter
  readonly source: MarkdownSource
  readonly limits: PluginLimits
  readonly body: string
}

function skill({ fields, source, limits, body }: Parts): MarkdownComponent<'skill', SkillCustomization> {
  const child = compact<SkillCustomization>({
    type: 'skill',
    ...described(fields, source, limits),
    ...invocation(fields),
  })
  return { kind: 'skill', child, path: source.path, text: body }
}

function agent({ fields, source, limits, body }: Parts): MarkdownComponent<'agent', AgentCustomization> {
  const child = compact<AgentCustomization>({
    type: 'agent',
    ...described(fields, source, limits),
    ...invocation(fields),
    model: fields.list('model')?.[0],
    tools: fields.list('tools'),
  })
  return { kind: 'agent', child, path: source.path, text: body }
}

function prompt({ fields, source, limits, body }: Parts): PromptComponent {
  const child = compact<PromptCustomization>({ type: 'prompt', ...described(fields, source, limits) })
  const hint = fields.text('argument-hint')
  return compact<PromptComponent>({
    kind: 'prompt',
    child,
    path: source.path,
    text: body,
    argumentHint: hint === undefined ? undefined : oneLine(hint, limits.descriptionLength),
    disableModelInvocation: invocation(fields).disableModelInvocation,
  })
}

function rule({ fields, source, limits, body }: Parts): MarkdownComponent<'rule', RuleCustomization> {
  const globs = fields.list('globs') ?? fields.list('applyTo') ?? fields.list('paths')
  if (globs && globs.length > limits.globs) throw new Unusable(`It has more than ${limits.globs} patterns.`)
  const wrong = globs?.find((pattern) => glob(pattern) === undefined)
  if (wrong !== undefined) throw new Unusable(`The pattern ${printable(wrong)} is malformed.`)
  const child = compact<RuleCustomization>({
    type: 'rule',
    ...described(fields, source, limits),
    alwaysApply: fields.flag('alwaysApply'),
    globs,
  })
  return { kind: 'rule', child, path: source.path, text: body }
}

function described(fields: Frontmatter, { uri, fallbackName }: MarkdownSource, limits: PluginLimits) {
  const description = fields.text('description')
  return {
    id: uri,
    uri,
    name: checkedName(fields.text('name') ?? fallbackName, limits.componentName),
    description: description === undefined ? undefined : oneLine(description, limits.descriptionLength),
  }
}

/**
 * Reads from the frontmatter whether models, and whether users, are kept from invoking the component. `infer` is an
 * older field with the opposite meaning: whether models may invoke it.
 */
function invocation(fields: Frontmatter) {
  const byModel = fields.flag('disable-model-invocation') ?? fields.flag('infer') === false
  return {
    disableModelInvocation: byModel || undefined,
    disableUserInvocation: fields.flag('user-invocable') === false || undefined,
  }
}
