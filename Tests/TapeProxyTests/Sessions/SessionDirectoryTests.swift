import Foundation
import NIOEmbedded
import Testing
@testable import TapeProxy

@Suite struct SessionDirectoryTests {
    private func basic(_ pair: String) -> String { "Basic " + Data(pair.utf8).base64EncodedString() }

    @Test func eachNameWithItsTokenIsItsSession() throws {
        let loop = EmbeddedEventLoop()
        let sessions = try [EmbeddedProxy.context(loop), EmbeddedProxy.context(loop)]
        let directory = SessionDirectory()
        for (index, session) in sessions.enumerated() {
            directory.add(session, name: SessionName(number: index), token: Secret("token-\(index)"))
        }
        #expect(directory.session(for: self.basic("s0:token-0")) === sessions[0])
        #expect(directory.session(for: self.basic("s1:token-1")) === sessions[1])
        for wrong in ["s0:token-1", "s1:token-0", "s0:", "s0", ":token-0", "s2:token-0", "S0:token-0", "s0:token-0 ", "s0:token-"] {
            #expect(directory.session(for: self.basic(wrong)) == nil, "\(wrong)")
        }
        #expect(directory.session(for: nil) == nil)
        directory.remove(SessionName(number: 0))
        #expect(directory.session(for: self.basic("s0:token-0")) == nil)
        #expect(directory.session(for: self.basic("s1:token-1")) === sessions[1])
    }
}
