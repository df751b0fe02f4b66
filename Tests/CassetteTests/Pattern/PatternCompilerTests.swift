import Testing

@testable import TapeBytes

@Suite struct PatternCompilerTests {
    private func instructions(_ text: String) throws -> [PatternInstruction] {
        var compiler = PatternCompiler()
        compiler.add(try PatternParser.parse(text))
        return compiler.instructions
    }

    @Test func eachConstructHasItsInstructions() throws {
        #expect(try self.instructions("aba") == [.take(0), .take(1), .take(0)])
        #expect(try self.instructions("a|b|c") == [.split(1, 3), .take(0), .jump(7), .split(4, 6), .take(1), .jump(7), .take(2)])
        #expect(try self.instructions("a*") == [.split(1, 3), .take(0), .jump(0)])
        #expect(try self.instructions("a+") == [.take(0), .split(0, 2)])
        #expect(try self.instructions("a{2,}") == [.take(0), .take(0), .split(1, 3)])
        #expect(try self.instructions("a{1,3}") == [.take(0), .split(2, 5), .take(0), .split(4, 5), .take(0)])
        #expect(try self.instructions("^$") == [.require(.start), .require(.end)])
    }
}
