@testable import TapeInspector
import Testing

@Suite struct PageScriptTests {
    @Test func modulesBecomeTwoScripts() throws {
        let first = """
            import * as api from "../core/api.js";
            import { a, b as c } from "./other.js";
            export const one = 1;
            export async function two() { import("../app.js"); }
            """
        let modules: [(path: String, text: String)] = [
            ("/app.js", "import { one } from \"./list/first.js\";\nimport { x } from \"./late.js\";"),
            ("/core/api.js", "export class API {\n}"),
            ("/late.js", "export const x = 1;"), ("/list/first.js", first), ("/list/other.js", "import { deep } from \"../core/deep.js\";"),
            ("/core/deep.js", "export const deep = 1;"),
        ]
        let script = try PageScript(modules, first: "/list/first.js", restPath: "/rest.js")
        let late = "import(\"/rest.js\").then((rest) => { rest.add(modules, need); return need(\"/app.js\"); })"
        for line in [
            "const api = need(\"/core/api.js\");", "const { a, b: c } = need(\"/list/other.js\");", "const one = 1;",
            "async function two() { \(late); }", "return { one, two };", "return { API };",
        ] {
            #expect(script.first.split(separator: "\n").contains(Substring(line)), "\(line)")
        }
        #expect(script.first.hasSuffix("need(\"/list/first.js\");\n"))
        // The imports of the first module, and their imports, each exactly once.
        for (path, _) in modules {
            let isLate = path == "/app.js" || path == "/late.js"
            #expect(script.first.contains("modules.set(\"\(path)\"") == !isLate, "\(path)")
            #expect(script.rest.contains("modules.set(\"\(path)\"") == isLate, "\(path)")
        }
    }

    @Test(arguments: ["import \"./a.js\";", "import a from \"./a.js\";", "import {", "export default 1;", "export { a };"])
    func aFormThatCannotBeJoinedIsReported(_ line: String) {
        #expect(throws: PageScript.SyntaxError.self) { try PageScript([("/a.js", line)], first: "/a.js", restPath: "/rest.js") }
    }

    @Test func thePageItselfIsJoined() {
        let first = String(decoding: PageFiles.scripts.first, as: UTF8.self), rest = String(decoding: PageFiles.scripts.rest, as: UTF8.self)
        #expect(first.hasPrefix("// The modules of the page"), "\(first.prefix(200))")
        let modules = PageFiles.paths.filter { $0.hasSuffix(".js") && $0 != "/worker.js" }
        #expect(modules.count > 20 && modules.allSatisfy { (first + rest).contains("modules.set(\"\($0)\"") })
        // The first rows wait only for the first script.
        #expect(rest.contains("modules.set(\"/app.js\"") && first.utf8.count * 2 < rest.utf8.count)
    }
}
