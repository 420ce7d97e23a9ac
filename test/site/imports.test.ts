// SPDX-License-Identifier: Apache-2.0
/**
 * The compiler's check of the repository leaves out the site, whose packages are installed apart.
 * So this test reads what the site imports from files of the repository.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import t from 'tap'
import ts from 'typescript'
import { ROOT } from '../docs/pages.ts'

const SITE = join(ROOT, 'site')

function parse(path: string): ts.SourceFile {
  return ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest)
}

/** Each name, with the file from which it is imported. */
function importsOf(path: string): { readonly name: string; readonly from: string }[] {
  return parse(path).statements.flatMap((statement) => {
    if (!ts.isImportDeclaration(statement) || !ts.isStringLiteral(statement.moduleSpecifier)) return []
    const { text } = statement.moduleSpecifier
    const names = statement.importClause?.namedBindings
    if (!text.startsWith('.') || names === undefined || !ts.isNamedImports(names)) return []
    const from = resolve(dirname(path), text)
    return names.elements.map(({ name, propertyName }) => ({ name: (propertyName ?? name).text, from }))
  })
}

function exportsOf(path: string): ReadonlySet<string> {
  const exported = (node: ts.Statement) =>
    ts.canHaveModifiers(node) && ts.getModifiers(node)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) === true
  const names = parse(path).statements.flatMap((statement) => {
    if (!exported(statement)) return []
    if (ts.isVariableStatement(statement)) return statement.declarationList.declarations.map(({ name }) => name)
    return 'name' in statement ? [statement.name as ts.Identifier] : []
  })
  return new Set(names.flatMap((name) => (ts.isIdentifier(name) ? [name.text] : [])))
}

t.test('each name that the site imports from a file of the repository is exported there', async (t) => {
  const folders = ['', 'test', '.vitepress', '.vitepress/theme']
  const files = folders.flatMap((folder) => readdirSync(join(SITE, folder)).map((name) => join(folder, name)))
  const imports = files
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) => importsOf(join(SITE, file)).map((imported) => ({ ...imported, file })))
  t.ok(imports.some(({ name, from }) => name === 'slugOf' && from === join(ROOT, 'test/docs/markdown.ts')))
  for (const { name, from, file } of imports) t.ok(exportsOf(from).has(name), `${file}: ${name}`)
})
