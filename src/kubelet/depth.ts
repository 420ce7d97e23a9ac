/**
 * How deep a config may be nested, in YAML and in JSON. Kubelet takes 10,000 levels of JSON
 * (`maxDepth` of its decoder), but no field is a tenth as deep as this. What looks at a value goes
 * level by level and names its path, so that each level of a long text costs memory and time.
 */
export const DEEPEST = 100

export const TOO_DEEP = `nested more than ${DEEPEST} levels deep`
