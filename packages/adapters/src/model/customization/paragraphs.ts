import type { Customized, Rule, Skill } from '@atrium/host/ports/customized'
import { pathOf } from '@atrium/protocol/file-uri'

/** The paragraphs that the customizations of a session add to the system prompt. */
export function customParagraphs({ agent, rules, skills, context, prompt }: Customized): readonly string[] {
  return [
    ...(agent ? [`You work as the agent ${agent.name}:\n\n${agent.text}`] : []),
    ...rules.map(ruleParagraph),
    ...(skills.length > 0 ? [skillList(skills)] : []),
    ...context,
    ...(prompt === undefined
      ? []
      : [`The last message of the user begins with a command. It stands for this task:\n\n${prompt}`]),
  ]
}

function ruleParagraph({ name, text, globs }: Rule): string {
  const about = globs ? ` for files that match ${globs.join(', ')}` : ''
  return `Rule "${name}"${about}:\n\n${text}`
}

/** Only names and descriptions: the tool `skill` gives the text of one when the model needs it. */
function skillList(skills: readonly Skill[]): string {
  const rows = skills.map(({ name, description }) => `- ${name}: ${description}`)
  return `Skills, whose instructions the tool skill gives. Read one before a task that it is about:\n${rows.join('\n')}`
}

/** The text of a skill for the model. Other files of the skill are beside its file. */
export function skillText({ uri, text }: Skill): string {
  const named = pathOf(uri)
  return named.ok ? `(from ${named.path})\n\n${text}` : text
}
