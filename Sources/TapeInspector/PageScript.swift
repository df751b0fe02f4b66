/// The page's modules, joined into two scripts: one with everything needed for the first rows, and the rest, which is loaded after them.
///
/// Supports only the forms that the page uses: `import` and `export` at the beginning of a line, on one line. Each module becomes a
/// function that runs when another module first needs it, and returns its exports.
struct PageScript {
    /// The first module and everything that it imports, directly or indirectly.
    let first: String
    /// The other modules, which are imported late, as `import("./a.js")`.
    let rest: String

    struct SyntaxError: Error, CustomStringConvertible {
        var description: String
    }

    /// - Parameters:
    ///   - modules: by path, such as `/core/api.js`.
    ///   - first: the path of the module that starts the page.
    ///   - restPath: the path of the rest.
    init(_ modules: [(path: String, text: String)], first: String, restPath: String) throws(SyntaxError) {
        var joined: [(path: String, text: String)] = []
        var imports: [String: [String]] = [:]
        for module in modules {
            let lines = module.text.split(separator: "\n", omittingEmptySubsequences: false)
            var exports: [Substring] = []
            var script = "modules.set(\"\(module.path)\", () => {\n"
            for line in lines {
                if line.hasPrefix("import ") {
                    let (other, names) = try Self.imported(line, in: module.path)
                    imports[module.path, default: []].append(other)
                    script += "const \(names) = need(\"\(other)\");"
                } else if line.hasPrefix("export ") {
                    let declaration = line.dropFirst("export ".count)
                    exports.append(try Self.name(declaration, in: module.path))
                    script += try Self.late(declaration, in: module.path, restPath)
                } else {
                    script += try Self.late(line, in: module.path, restPath)
                }
                script += "\n"
            }
            joined.append((module.path, script + "return { \(exports.joined(separator: ", ")) };\n});\n"))
        }
        var early: Set<String> = []
        var waiting = [first]
        while let path = waiting.popLast() {
            if early.insert(path).inserted { waiting += imports[path] ?? [] }
        }
        self.first = """
            // The modules of the page that its first rows need, joined: each is also at its own path.
            const modules = new Map();
            const made = new Map();
            function need(path) { if (!made.has(path)) made.set(path, modules.get(path)()); return made.get(path); }

            """ + joined.filter { early.contains($0.path) }.map(\.text).joined() + "need(\"\(first)\");\n"
        self.rest =
            "// The other modules of the page, joined.\nexport function add(modules, need) {\n"
            + joined.filter { !early.contains($0.path) }.map(\.text).joined() + "}\n"
    }

    /// `import { a, b as c } from "./d.js";` or `import * as a from "./b.js";`.
    private static func imported(_ line: Substring, in path: String) throws(SyntaxError) -> (path: String, names: String) {
        let words = line.dropFirst("import ".count)
        guard let from = words.firstRange(of: " from \""), words.hasSuffix("\";") else { throw self.unknown(line, path) }
        let other = self.resolved(words[from.upperBound...].dropLast(2), in: path)
        let names = words[..<from.lowerBound]
        if names.hasPrefix("* as ") { return (other, String(names.dropFirst("* as ".count))) }
        guard names.hasPrefix("{"), names.hasSuffix("}") else { throw self.unknown(line, path) }
        return (other, String(names.replacing(" as ", with: ": ")))
    }

    /// The name in `function name(`, `async function name(`, `class Name ` or `const NAME =`.
    private static func name(_ declaration: Substring, in path: String) throws(SyntaxError) -> Substring {
        let rest = declaration.hasPrefix("async ") ? declaration.dropFirst("async ".count) : declaration
        guard let kind = ["function ", "class ", "const "].first(where: { rest.hasPrefix($0) }) else {
            throw self.unknown(declaration, path)
        }
        return rest.dropFirst(kind.count).prefix { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "$" }
    }

    /// `import("./a.js")` within a line.
    private static func late(_ line: Substring, in path: String, _ restPath: String) throws(SyntaxError) -> String {
        guard let call = line.firstRange(of: "import(\"") else { return String(line) }
        guard let end = line[call.upperBound...].firstRange(of: "\")") else { throw self.unknown(line, path) }
        let other = self.resolved(line[call.upperBound..<end.lowerBound], in: path)
        let added = "import(\"\(restPath)\").then((rest) => { rest.add(modules, need); return need(\"\(other)\"); })"
        return line[..<call.lowerBound] + added + line[end.upperBound...]
    }

    private static func resolved(_ reference: Substring, in path: String) -> String {
        var folders = path.split(separator: "/").dropLast()
        for part in reference.split(separator: "/") where part != "." {
            if part == ".." { _ = folders.popLast() } else { folders.append(part) }
        }
        return "/" + folders.joined(separator: "/")
    }

    private static func unknown(_ line: Substring, _ path: String) -> SyntaxError {
        SyntaxError(description: "\(path) has a line that cannot be joined: \(line)")
    }
}
