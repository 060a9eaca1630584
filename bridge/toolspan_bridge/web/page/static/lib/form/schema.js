// What a form reads out of a JSON Schema: references, kinds of values, first values.

const MOST_REFERENCES = 32;

/** `schema` with its `$ref` followed inside the document; one that leads nowhere is any value. */
export function resolved(schema, root) {
  let found = schema;
  for (let steps = 0; steps < MOST_REFERENCES && found && typeof found === "object" && typeof found.$ref === "string"; steps += 1) {
    const { $ref, ...beside } = found;
    const target = at($ref, root);
    if (target === undefined) return beside;
    found = typeof target === "object" ? { ...target, ...beside } : target;
  }
  if (found === true || found === undefined || found === null) return {};
  if (found && typeof found === "object" && Array.isArray(found.allOf)) return merged(found, root);
  return found;
}

function at(reference, root) {
  if (!reference.startsWith("#")) return undefined;
  return reference.slice(1).split("/").filter(Boolean).reduce(
    (here, part) => here?.[decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~")], root);
}

function merged({ allOf, ...own }, root) {
  return allOf.map((each) => resolved(each, root)).reduce((all, each) => ({
    ...all, ...each,
    properties: { ...(all.properties || {}), ...(each.properties || {}) },
    required: [...(all.required || []), ...(each.required || [])],
  }), { ...own });
}

/** The sort of control that `schema` wants. */
export function kindOf(schema) {
  if (schema === false || typeof schema !== "object") return "json";
  if ("const" in schema) return "const";
  if (choicesOf(schema)) return "enum";
  if (branches(schema)) return nullable(schema) ? kindOf(nullable(schema)) : "choice";
  const types = [schema.type].flat().filter((each) => each && each !== "null");
  if (types.length === 1) return types[0] === "object" && !schema.properties ? "json" : types[0];
  if (types.length === 0 && schema.properties) return "object";
  return "json";
}

/** [[value, name], …] where only certain values are allowed: enum with its names, or branches that are constants. */
export function choicesOf(schema) {
  if (Array.isArray(schema?.enum)) {
    const names = Array.isArray(schema.enumNames) ? schema.enumNames : [];
    return schema.enum.map((value, at) => [value, typeof names[at] === "string" ? names[at] : textOf(value)]);
  }
  const all = branches(schema || {});
  if (!all?.length || !all.every((each) => each && typeof each === "object" && "const" in each)) return null;
  return all.map((each) => [each.const, titleOf(each, textOf(each.const))]);
}

const textOf = (value) => (typeof value === "string" ? value : JSON.stringify(value));

export const branches = (schema) => schema.oneOf || schema.anyOf || null;

/** The one branch of "this or null", as Pydantic writes what may be left out. */
export function nullable(schema) {
  const some = (branches(schema) || []).filter((each) => each?.type !== "null");
  return some.length === 1 && branches(schema).length === 2 ? { ...schema, oneOf: undefined, anyOf: undefined, ...some[0], description: schema.description ?? some[0].description, default: schema.default } : null;
}

export const titleOf = (schema, fallback) => (typeof schema?.title === "string" && schema.title) || fallback;

/** What a control shows at first: the default, or the first example. */
export const firstOf = (schema) => (schema.default !== undefined ? schema.default : undefined);

export const exampleOf = (schema) => (Array.isArray(schema.examples) && schema.examples.length ? schema.examples[0] : undefined);

export const step = (pointer, name) => `${pointer}/${String(name).replaceAll("~", "~0").replaceAll("/", "~1")}`;
