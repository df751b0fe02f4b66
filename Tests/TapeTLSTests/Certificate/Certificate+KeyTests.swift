import Testing

@testable import TapeTLS

@Suite struct CertificateKeyTests {
    @Test func aKeyOnACurveIsNamedByTheCurve() throws {
        let authority = try CertificateAuthority.make(now: 1_795_262_400)
        #expect(try Certificate(pem: authority.certificatePEM()).keyDescription == "P-256 (EC, 256 bits)")
    }

    /// Made by `openssl req -x509 -newkey rsa:1024 -nodes -subj /CN=x -days 36500`; nothing has its key any more.
    private static let rsa = """
        -----BEGIN CERTIFICATE-----
        MIIB9jCCAV+gAwIBAgIUXpCeP/5d9he9o2+U0ISR1waMJQIwDQYJKoZIhvcNAQEL
        BQAwDDEKMAgGA1UEAwwBeDAgFw0yNjExMjEyMTAzNDZaGA8yMTI2MTAyODIxMDM0
        NlowDDEKMAgGA1UEAwwBeDCBnzANBgkqhkiG9w0BAQEFAAOBjQAwgYkCgYEAqQ8d
        eiSf3JHPJXYsvrrbBaqVBtQjcWgBseu9G4xXKud0Cft4oHBY6J2MQ5TcA2yhErce
        07k0hM8rdqkp8KOqN3QcAFo9OByy5xldviUewJUpiPpQWIZN/LCAAtfvXSuK9Lpq
        22/hP+uDltStyE7Mug+GWLPPxovNWITSIwAYhw8CAwEAAaNTMFEwHQYDVR0OBBYE
        FERc7aaq7bH4T6WkPkdgEbRy87q2MB8GA1UdIwQYMBaAFERc7aaq7bH4T6WkPkdg
        EbRy87q2MA8GA1UdEwEB/wQFMAMBAf8wDQYJKoZIhvcNAQELBQADgYEAlXzMbsj/
        5Rh+PPtd6yZ/gLZ8VUKlRrrntj5lfDTmYsTHHONajcEiqxM/Sx7BH/0fL6mDqm4Z
        YU0vABXKxEPDAVh7mclI5Ik1bADBOHN65OqJTXWzVKdynrVnU2avMRDmOtEnkHTI
        uAC65BRyrpNRj/UTJYp8K/innjOIDcxKLI4=
        -----END CERTIFICATE-----
        """

    @Test func aKeyOnNoCurveIsNamedByItsKind() throws {
        #expect(try Certificate(pem: Array(Self.rsa.utf8)).keyDescription == "RSA, 1024 bits")
    }
}
