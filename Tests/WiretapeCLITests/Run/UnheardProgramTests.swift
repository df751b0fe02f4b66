import Foundation
import Testing

@testable import WiretapeCLI

@Suite struct UnheardProgramTests {
    private func advice(_ command: String, version: String? = nil) -> (text: String, asked: [String]) {
        var asked: [String] = []
        let program = UnheardProgram(of: command.split(separator: " ").map(String.init)) { name, words in
            asked.append(([name] + words).joined(separator: " "))
            return version
        }
        return (program.advice(address: "127.0.0.1:7070"), asked)
    }

    @Test func oldNodeGetsTheVersionThatReadsProxyVariables() {
        let (text, asked) = self.advice("/opt/node/bin/node client.js", version: "v20.20.2\n")
        #expect(text.hasPrefix("Node 20.20.2 made no request through the proxy: Node reads no proxy variables before 22.21 and 24."))
        #expect(text.contains("EnvHttpProxyAgent") && text.contains("http://127.0.0.1:7070/http://localhost:8000/pets"))
        #expect(asked == ["/opt/node/bin/node --version"])
    }

    @Test(arguments: ["v24.1.0", "v22.21.0", "v25.0.0"])
    func newNodeReadsThem(version: String) {
        #expect(self.advice("node client.js", version: version).text.contains("an agent or dispatcher of its own"))
    }

    @Test(arguments: ["v22.20.9", "v23.11.0", "v18.0.0"])
    func otherNodeDoesNot(version: String) {
        #expect(self.advice("node client.js", version: version).text.contains("reads no proxy variables"))
    }

    @Test(arguments: [
        ("npm test", "npm, which runs Node 20.1.0", "node --version"), ("npx vitest", "npx, which runs Node 20.1.0", "node --version"),
        ("go test ./...", "Go 20.1.0", "go version"), ("java -jar a.jar", "Java 20.1.0", "java -version"),
        ("deno run a.ts", "Deno 20.1.0", "deno --version"), ("bun test", "Bun 20.1.0", "bun --version"),
        ("env A=b FOO=bar node a.js", "Node 20.1.0", "node --version"), ("sh -c node a.js", "Node 20.1.0", "node --version"),
        ("timeout 5s node a.js", "Node 20.1.0", "node --version"), ("nice -n 5 setsid go run .", "Go 20.1.0", "go version"),
    ])
    func knownProgramIsNamedWithItsVersion(command: String, name: String, question: String) {
        let (text, asked) = self.advice(command, version: "version 20.1.0 (2026)")
        #expect(text.hasPrefix("\(name) made no request through the proxy"), "\(text)")
        #expect(asked == [question])
    }

    @Test(arguments: [
        ("#!/usr/bin/env node\nfetch('http://a')\n", "Node 20.1.0"), ("#!/opt/bin/node\n", "Node 20.1.0"),
        ("#!/usr/bin/env -S deno run\n", "Deno 20.1.0"), ("#!/bin/sh\n# node is next\nset -e\nexec node \"$@\"\n", "Node 20.1.0"),
        ("#!/bin/bash\ncd app\nif go test ./...; then echo good; fi\n", "Go 20.1.0"),
        ("#!/bin/sh\nNODE_ENV=test npm test\n", "npm, which runs Node 20.1.0"), ("#!/bin/sh\n./client\n", "the command"),
        ("node\n", "the command"), ("", "the command"),
    ])
    func theProgramThatAScriptRunsIsNamed(script: String, name: String) throws {
        let path = NSTemporaryDirectory() + "wiretape-script-\(UUID().uuidString)"
        try script.write(toFile: path, atomically: false, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: path) }
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: path)
        let text = self.advice(path, version: "version 20.1.0").text
        #expect(text.hasPrefix("\(name) made no request through the proxy"), "\(text)")
    }

    @Test func programWithoutAVersionIsNamedToo() {
        #expect(self.advice("go run .").text.hasPrefix("Go made no request through the proxy"))
    }

    @Test func unknownProgramIsNotAsked() {
        let (text, asked) = self.advice("./client --fast")
        #expect(text.hasPrefix("the command made no request through the proxy") && asked.isEmpty)
    }
}
