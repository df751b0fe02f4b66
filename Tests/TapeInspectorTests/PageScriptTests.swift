@testable import TapeInspector
import Testing

@Suite struct PageScriptTests {
    @Test func modulesBecomeOneScript() throws {
        let first = """
            import * as api from "../core/api.js";
            import { a, b as c } from "./other.js";
            export const one = 1;
            export async function two() { import("../app.js"); }
            """
        let script = try PageScript.joined([("/list/first.js", first), ("/app.js", "export class App {\n}")], first: "/list/first.js")
        for line in [
            "const api = need(\"/core/api.js\");", "const { a, b: c } = need(\"/list/other.js\");", "const one = 1;",
            "async function two() { Promise.resolve().then(() => need(\"/app.js\")); }", "return { one, two };", "return { App };",
        ] {
            #expect(script.split(separator: "\n").contains(Substring(line)), "\(line)")
        }
        #expect(script.hasSuffix("need(\"/list/first.js\");\n"))
    }

    @Test(arguments: ["import \"./a.js\";", "import a from \"./a.js\";", "import {", "export default 1;", "export { a };"])
    func aFormThatCannotBeJoinedIsTold(_ line: String) {
        #expect(throws: PageScript.SyntaxError.self) { try PageScript.joined([("/a.js", line)], first: "/a.js") }
    }

    @Test func thePageItselfIsJoined() {
        let script = String(decoding: PageFiles.script, as: UTF8.self)
        #expect(script.hasPrefix("// The modules of the page"), "\(script.prefix(200))")
        let modules = PageFiles.paths.filter { $0.hasSuffix(".js") && $0 != "/worker.js" }
        #expect(modules.count > 20 && modules.allSatisfy { script.contains("modules.set(\"\($0)\"") })
    }
}
