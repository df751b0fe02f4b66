import Foundation
import NIOEmbedded
@testable import TapeProxy
import Testing

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

@Suite struct BasicCredentialsTests {
    @Test func theFirstColonDividesThem() throws {
        // a:b:c
        let parts = try #require(BasicCredentials("bAsIc YTpiOmM=")?.parts)
        #expect(Array(parts.user) == Array("a".utf8))
        #expect(Array(parts.password) == Array("b:c".utf8))
    }

    @Test func aPairIsReadAsItWasWritten() {
        let pair: [UInt8] = [0x61, 0x3A, 0xFF, 0x00]
        #expect(BasicCredentials("Basic \(BasicCredentials.encoded(pair))")?.pair == pair)
        #expect(BasicCredentials.encoded(Array("a:b".utf8)) == "YTpi")
    }

    @Test func severalSpacesAreOne() {
        // RFC 9110, 11.4.
        #expect(BasicCredentials("Basic   YTpi")?.pair == Array("a:b".utf8))
    }

    @Test func otherCredentialsAreNil() {
        for value in [nil, "", "Basic", "Basic !", "Bearer YTpiOmM=", "YTpiOmM="] {
            #expect(BasicCredentials(value) == nil, "\(value ?? "nil")")
        }
        // ab
        #expect(BasicCredentials("Basic YWI=")?.parts == nil)
    }
}

@Suite struct SecretTests {
    @Test func onlyTheSecretItselfIsEqual() {
        let secret = Secret("open sesame")
        #expect(secret.isEqual(to: Array("open sesame".utf8)))
        for text in ["", "open", "open sesamf", "Open sesame", "open sesame ", "open sesameopen sesame", "\0"] {
            #expect(!secret.isEqual(to: Array(text.utf8)), "\(text)")
        }
        #expect(!Secret("").isEqual(to: [0]))
    }

    @Test func aSecretShowsItselfOnRequestAlone() {
        #expect(!"\(Secret("open sesame"))".contains("sesame"))
        #expect(Secret("open sesame").revealed == "open sesame")
    }

    @Test func noTwoAreAlike() {
        let some = Set((0..<100).map { _ in Secret.random().revealed })
        #expect(some.count == 100)
        #expect(some.allSatisfy { $0.count == 48 && $0.allSatisfy(\.isHexDigit) })
    }
}
