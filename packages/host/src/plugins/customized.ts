import type { Message } from '@atrium/protocol/chat/message'
import { compact } from '@atrium/protocol/update'
import type { Component } from './plugin.ts'
import type { AgentCommand } from '../ports/agent.ts'
import type { CustomAgent, Customized, Rule, Skill } from '../ports/customized.ts'

type Of<K extends Component['kind']> = Extract<Component, { readonly kind: K }>

/** What the plugins and folders of a session give to the agent of a turn that starts with this message. */
export function customizedBy(components: readonly Component[], message: Message): Customized {
  const rules = of(components, 'rule')
  const skills = of(components, 'skill').filter(({ child }) => child.disableModelInvocation !== true)
  return compact<Customized>({
    rules: rules.filter(isKnownFromStart).map(ruleOf),
    skills: [...skills, ...rules.filter((rule) => !isKnownFromStart(rule))].map(skillOf),
    context: [],
    agent: chosenAgent(components, message),
    prompt: promptOf(components, message.text),
  })
}

/** The commands that components add: prompts, and the skills that users may call. */
export function commandsOf(components: readonly Component[]): readonly AgentCommand[] {
  return commandsAmong(components).map(({ child }) =>
    compact<AgentCommand>({ name: child.name, description: child.description }),
  )
}

/**
 * Whether the agent gets a rule from the start. A rule that is neither always applied nor about certain files is
 * offered like a skill: the agent reads it when it needs it.
 */
function isKnownFromStart({ child }: Of<'rule'>): boolean {
  return child.alwaysApply === true || (child.globs ?? []).length > 0
}

function ruleOf({ child: { name, uri, globs }, text }: Of<'rule'>): Rule {
  return { name, uri, text, ...(globs && globs.length > 0 && { globs }) }
}

function skillOf({ child: { name, description = '', uri }, text }: Of<'skill'> | Of<'rule'>): Skill {
  return { name, description, uri, text }
}

function chosenAgent(components: readonly Component[], { agent }: Message): CustomAgent | undefined {
  const found = agent && of(components, 'agent').find(({ child }) => child.uri === agent.uri)
  if (!found) return undefined
  const { name, model, tools } = found.child
  return compact<CustomAgent>({ name, text: found.text, model, tools })
}

function commandsAmong(components: readonly Component[]): readonly (Of<'prompt'> | Of<'skill'>)[] {
  const skills = of(components, 'skill').filter(({ child }) => child.disableUserInvocation !== true)
  return [...of(components, 'prompt'), ...skills]
}

/**
 * If a message begins with `/` and the name of a prompt or skill, returns the text of that prompt or skill. The rest of the
 * message takes the place of `$ARGUMENTS`, or is added at the end if the text has no `$ARGUMENTS`.
 */
function promptOf(components: readonly Component[], message: string): string | undefined {
  const [, name, given = ''] = /^\/(\S+)(?:\s+([^]*))?$/.exec(message) ?? []
  const found = commandsAmong(components).find(({ child }) => child.name === name)
  if (!found) return undefined
  const { text } = found
  return text.includes(argumentsToken)
    ? text.replaceAll(argumentsToken, () => given)
    : [text, given].filter((part) => part !== '').join('\n\n')
}

const argumentsToken = '$ARGUMENTS'

function of<K extends Component['kind']>(components: readonly Component[], kind: K): readonly Of<K>[] {
  return components.filter((each): each is Of<K> => each.kind === kind)
}
