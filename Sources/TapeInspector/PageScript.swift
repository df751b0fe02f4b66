/// The page's modules joined into one script, so that a page needs one request for all of them.
///
/// Reads the forms that the page uses and no others: `import` and `export` at the beginning of a line, on one line. Each module becomes a
/// function that runs when another one first needs it, and returns what it exports.
enum PageScript {
    struct SyntaxError: Error, CustomStringConvertible {
        var description: String
    }

    /// - Parameters:
    ///   - modules: by path, as `/core/api.js`.
    ///   - first: the path of the one that begins.
    static func joined(_ modules: [(path: String, text: String)], first: String) throws(SyntaxError) -> String {
        var script = """
            // The modules of the page, joined: each is also at its own path.
            const modules = new Map();
            const made = new Map();
            function need(path) { if (!made.has(path)) made.set(path, modules.get(path)()); return made.get(path); }

            """
        for module in modules {
            var exports: [Substring] = []
            script += "modules.set(\"\(module.path)\", () => {\n"
            for line in module.text.split(separator: "\n", omittingEmptySubsequences: false) {
                if line.hasPrefix("import ") {
                    script += try self.constant(line, in: module.path)
                } else if line.hasPrefix("export ") {
                    let declaration = line.dropFirst("export ".count)
                    exports.append(try self.name(declaration, in: module.path))
                    script += try self.late(declaration, in: module.path)
                } else {
                    script += try self.late(line, in: module.path)
                }
                script += "\n"
            }
            script += "return { \(exports.joined(separator: ", ")) };\n});\n"
        }
        return script + "need(\"\(first)\");\n"
    }

    /// `import { a, b as c } from "./d.js";` or `import * as a from "./b.js";`.
    private static func constant(_ line: Substring, in path: String) throws(SyntaxError) -> String {
        let words = line.dropFirst("import ".count)
        guard let from = words.firstRange(of: " from \""), words.hasSuffix("\";") else { throw self.unknown(line, path) }
        let other = self.resolved(words[from.upperBound...].dropLast(2), in: path)
        let names = words[..<from.lowerBound]
        if names.hasPrefix("* as ") { return "const \(names.dropFirst(5)) = need(\"\(other)\");" }
        guard names.hasPrefix("{"), names.hasSuffix("}") else { throw self.unknown(line, path) }
        return "const \(names.replacing(" as ", with: ": ")) = need(\"\(other)\");"
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
    private static func late(_ line: Substring, in path: String) throws(SyntaxError) -> String {
        guard let call = line.firstRange(of: "import(\"") else { return String(line) }
        guard let end = line[call.upperBound...].firstRange(of: "\")") else { throw self.unknown(line, path) }
        let other = self.resolved(line[call.upperBound..<end.lowerBound], in: path)
        return "\(line[..<call.lowerBound])Promise.resolve().then(() => need(\"\(other)\"))\(line[end.upperBound...])"
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
